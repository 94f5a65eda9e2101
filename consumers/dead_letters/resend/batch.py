"""One batch: marked in the database before anything leaves, then sent one after the other, then noted.

Between the mark and the note a message is SENDING: whoever finds it so later must look for it in its target queue.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from django.db import transaction

from consumers.errands.hold import Hold
from consumers.errands.ports import Ports
from consumers.models import Resend, ResendItem, ResendOutcome
from consumers.polling.wire import WireClosed
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.resent_message import RESEND_PROPERTY
from consumers.rocketmq.wire.errors import BrokerRefused, RocketMQError

from .errand import Errand
from .prepare import NotSent, Ready, prepare
from .search import AT_ONCE, DIVERTED
from .sent_before import before_in_words, place_of, sent_before
from .targets import Target, by_target

# Reads back what was sent to a retry topic: a broker may have put it into the dead-letter queue and not said so.

# What was stored can be pulled a moment later, once the broker has indexed it (5.4.0, ReputMessageService).
TRIES, PAUSE_SECONDS = 20, 0.1


async def read_back(ports: Ports, errand: Errand, sent: Sequence[ResendItem]) -> None:
    """What is not found where the broker said is set to FAILED where something else lies there, else to SENDING."""
    for target, items in by_target(sent).items():
        try:
            marks = await _marks(ports.known(target.broker), target, items, ports.deadline_seconds)
        except RocketMQError as error:
            _doubt(items, f"the broker took it, and it could not be read back: {error}")
            continue
        for item in items:
            if item.target_offset not in marks:
                _doubt([item], "the broker took it, and it cannot be read yet")
            elif marks[item.target_offset] != errand.mark(item):
                item.outcome, item.error = ResendOutcome.FAILED, DIVERTED


def _doubt(items: Iterable[ResendItem], reason: str) -> None:
    for item in items:
        item.outcome, item.error = ResendOutcome.SENDING, reason


async def _marks(
    admin: BrokerAdmin, target: Target, items: Sequence[ResendItem], deadline_seconds: float
) -> dict[int | None, str | None]:
    """By offset, as far as they can be read by now."""
    topic, queue_id = target.topic, target.queue_id
    wanted = sorted(item.target_offset for item in items if item.target_offset is not None)
    marks: dict[int | None, str | None] = {}
    for _ in range(TRIES):
        left = [offset for offset in wanted if offset not in marks]
        if not left or left[0] >= await admin.max_offset(topic, queue_id, deadline_seconds=deadline_seconds):
            if not left:
                break
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        pulled = await admin.pull(topic, queue_id, left[0], AT_ONCE, deadline_seconds=deadline_seconds)
        marks |= {message.queue_offset: message.properties.get(RESEND_PROPERTY) for message in pulled.messages}
        if left[0] not in marks:
            await asyncio.sleep(PAUSE_SECONDS)
    return marks


Clock = Callable[[], datetime]

FIELDS = [
    "outcome",
    "at",
    "target_topic",
    "target_broker",
    "target_queue_id",
    "floor_offset",
    "target_offset",
    "error",
]


class Batch:
    def __init__(self, resend: Resend, errand: Errand, ports: Ports, hold: Hold, clock: Clock) -> None:
        self._resend, self._errand, self._ports = resend, errand, ports
        self._hold, self._clock = hold, clock

    def send(self, items: Sequence[ResendItem]) -> None:
        """Raises NotHeld or WireClosed, and then has neither sent nor written anything since."""
        prepared = self._ports.wire.run(prepare(self._ports, self._errand, items))
        ready = self._mark(prepared)
        sent = self._send_all(ready)
        if self._errand.to_group and sent:
            self._ports.wire.run(read_back(self._ports, self._errand, sent))
        self.save([one.item for one in ready])

    def save(self, items: Sequence[ResendItem]) -> None:
        with transaction.atomic():
            self._hold.renew(self._clock())
            ResendItem.objects.bulk_update(items, FIELDS)

    def _mark(self, prepared: Sequence[Ready | NotSent]) -> list[Ready]:
        """Those that may be sent; the others are done with."""
        ready = [one for one in prepared if isinstance(one, Ready)]
        now = self._clock()
        with transaction.atomic():
            self._hold.renew(now)
            before = {} if self._resend.again else sent_before(self._errand.group, [one.item for one in ready])
            for one in prepared:
                item, item.at = one.item, now
                if isinstance(one, NotSent):
                    item.outcome, item.error = one.outcome, one.error
                elif (earlier := before.get(place_of(item))) is not None:
                    item.outcome, item.error = ResendOutcome.SKIPPED, before_in_words(earlier)
                else:
                    _aim(one)
            ResendItem.objects.bulk_update([one.item for one in prepared], FIELDS)
        return [one for one in ready if one.item.outcome == ResendOutcome.SENDING]

    def _send_all(self, ready: Sequence[Ready]) -> list[ResendItem]:
        """Those that the broker says it stored. After an outcome that is not known the rest waits for its turn."""
        sent: list[ResendItem] = []
        for place, one in enumerate(ready):
            self._hold.renew_if_old(self._clock())
            if self._send(one):
                sent.append(one.item)
            elif one.item.outcome == ResendOutcome.SENDING:
                for later in ready[place + 1 :]:
                    later.item.outcome, later.item.at = ResendOutcome.PLANNED, None
                break
        return sent

    def _send(self, one: Ready) -> bool:
        target, item = one.target, one.item
        seconds = self._ports.deadline_seconds
        sending = self._ports.sends(target.broker).send(
            target.topic, target.queue_id, one.outgoing, deadline_seconds=seconds
        )
        try:
            answer = self._ports.wire.run(sending)
        except WireClosed:
            # Its row says that it is being sent: whoever goes on looks for it before anything else.
            raise
        except RocketMQError as error:
            is_certain = isinstance(error, BrokerRefused) or error.never_sent
            item.outcome = ResendOutcome.FAILED if is_certain else ResendOutcome.SENDING
            item.at, item.error = self._clock(), str(error) if is_certain else f"no answer: {error}"
            return False
        item.at, item.target_offset, item.outcome = self._clock(), answer.queue_offset, ResendOutcome.SENT
        return True


def _aim(one: Ready) -> None:
    one.item.outcome, one.item.error, one.item.target_offset = ResendOutcome.SENDING, None, None
    one.item.target_topic, one.item.target_broker = one.target.topic, one.target.broker
    one.item.target_queue_id, one.item.floor_offset = one.target.queue_id, one.floor_offset
