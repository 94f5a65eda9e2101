"""Runs a resend with its cluster's connections; called by the task."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count

from consumers.dead_letters.resend.batch import Batch, Clock, ResendJob, Target, by_target
from consumers.jobs.hold import (
    BEAT_SECONDS,
    Answer,
    Hold,
    NoEnd,
    NotHeld,
    Ports,
    WithHeartbeat,
    connected,
    keep_alive,
    read_only_reason,
)
from consumers.jobs.permissions import may
from consumers.models import Destination, Resend, ResendItem, ResendOutcome, ResendStatus
from consumers.polling.registration import NoAccess, WireClosed
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.codes import RocketMQError
from consumers.vocabulary.reasons import ResendCause, stored_reason
from consumers.words.reasons import stored_words

from .plan import Search, search, send_result

# Whether messages may still be sent: the permissions at the start are checked again.
MAY_RESEND = "consumers.resend_dead_letters"


def why_not_sent(resend_id: UUID) -> str | None:
    """A stored reason; null where messages may be sent. Some queries: a task's arguments and earlier checks are not
    trusted."""
    resend = Resend.objects.select_related("group__cluster", "started_by").get(pk=resend_id)
    if against := read_only_reason(resend.group.cluster.name):
        return against
    name = resend.started_by_name or "somebody"
    if resend.started_by is None:
        return stored_reason(ResendCause.ACCOUNT_GONE, user=name)
    cluster = resend.group.cluster.name
    if not may(resend.started_by, MAY_RESEND, cluster):
        return stored_reason(ResendCause.PERMISSION_LOST, user=name, permission=MAY_RESEND, cluster=cluster)
    return None


# Ends a running resend: unsent messages are cancelled, and the row records the result.


def finish(hold: Hold, reason: str | None, now: datetime) -> None:
    """`reason`: why the resend ends early; null where it completed or was cancelled. Raises NotHeld."""
    items = ResendItem.objects.filter(resend=hold.pk)
    with transaction.atomic():
        hold.renew(now)
        left = items.filter(outcome=ResendOutcome.PLANNED)
        stopped = left.update(outcome=ResendOutcome.CANCELLED, at=now, error=reason)
        cancelled = bool(stopped) and reason is None
        counts = dict(items.exclude(at=None).order_by().values_list("outcome").annotate(Count("pk")))
        status = ResendStatus.CANCELLED if cancelled else status_of(counts)
        Resend.objects.filter(pk=hold.pk).update(status=status, finished_at=now, error=reason)


def status_of(counts: dict[str, int]) -> ResendStatus:
    """`counts` by outcome, without messages that the plan excluded."""
    if not counts.get(ResendOutcome.SENT) and not counts.get(ResendOutcome.UNKNOWN):
        return ResendStatus.FAILED
    whole = set(counts) <= {ResendOutcome.SENT}
    return ResendStatus.DONE if whole else ResendStatus.PARTIAL


def abandon(hold: Hold, reason: str, now: datetime) -> None:
    """Ends a resend whose cluster cannot be reached at all. Raises NotHeld."""
    items = ResendItem.objects.filter(resend=hold.pk, outcome=ResendOutcome.SENDING)
    with transaction.atomic():
        hold.renew(now)
        error = stored_reason(ResendCause.MAYBE_SENT, why=reason)
        items.update(outcome=ResendOutcome.UNKNOWN, at=now, error=error)
        finish(hold, reason, now)


# Finds out the outcome of messages whose worker died while sending, or whose answer did not come.

# A request in transit must have arrived or be lost before the message's absence proves anything.
SETTLING = timedelta(seconds=30)

# A broker that does not answer is asked again for this long; then the outcome is unknown.
PATIENCE = timedelta(seconds=150)


def settled_from(items: Sequence[ResendItem]) -> datetime:
    """The time from which on the queues are conclusive."""
    return max(item.at for item in items if item.at is not None) + SETTLING


SearchResult = Search | RocketMQError | str


def settle(
    ports: Ports, job: ResendJob, items: Sequence[ResendItem], now: datetime, with_heartbeat: WithHeartbeat
) -> None:
    """Sets the outcome of each; SENDING remains where the broker did not answer but may still. Raises WireClosed and
    NotHeld."""
    for target, there in by_target(items).items():
        found: SearchResult
        try:
            found = with_heartbeat(partial(_look, ports, job, target, there))
        except NoEnd as late:
            # The next worker's search would not end either.
            found = stored_reason(ResendCause.SEARCH_WITHOUT_END, error=str(late))
        for item in there:
            if isinstance(found, Search):
                _conclude(item, found, job, now)
            elif item.at is None or now - item.at > PATIENCE:
                error = stored_reason(ResendCause.MAYBE_SENT, why=_unread(found))
                item.outcome, item.error, item.at = ResendOutcome.UNKNOWN, error, now


def _unread(problem: RocketMQError | str) -> str:
    return problem if isinstance(problem, str) else stored_reason(ResendCause.TARGET_UNREAD, error=str(problem))


def _look(ports: Ports, job: ResendJob, target: Target, items: Sequence[ResendItem]) -> SearchResult:
    admin = ports.admin(target.broker)
    if admin is None:
        return stored_reason(ResendCause.ADDRESS_UNKNOWN, broker=target.broker)
    try:
        return ports.wire.run(_searched(admin, job, target, items, ports.deadline_seconds))
    except WireClosed:
        # A closed wire says nothing about the broker: the next attempt uses another wire.
        raise
    except RocketMQError as error:
        return error


async def _searched(
    admin: BrokerAdmin, job: ResendJob, target: Target, items: Sequence[ResendItem], deadline_seconds: float
) -> Search:
    """The target, and the DLQ for what is not there. Raises RocketMQError."""
    marks = {job.mark(item) for item in items}
    floor = min(item.floor_offset for item in items if item.floor_offset is not None)
    found = await search(admin, target.topic, target.queue_id, floor, marks, deadline_seconds)
    missing, dlq = marks - set(found.found), job.diverted_to(target)
    if not missing or dlq is None:
        return found
    floor = min(item.dlq_floor_offset or 0 for item in items)
    diverted = await search(admin, dlq.topic, dlq.queue_id, floor, missing, deadline_seconds)
    return Search(found.found, found.gap or diverted.gap, diverted.found)


def _conclude(item: ResendItem, search: Search, job: ResendJob, now: datetime) -> None:
    found = send_result(job.mark(item), search, answered=item.target_offset is not None)
    item.outcome, item.error, item.target_offset = found.outcome, found.error, found.target_offset
    item.at = None if found.outcome == ResendOutcome.PLANNED else now


# Runs one resend to its end, wherever it stopped before. At most one worker does so at a time.
# What was being sent is looked for before anything else is sent; only what is certainly not there is sent again.

logger = logging.getLogger(__name__)

Pause = Callable[[float], None]

BATCH = 16

# After so many failures in a row the rest is not tried.
FAILURES_IN_A_ROW = 16

BEAT = timedelta(seconds=5)


def work(resend_id: UUID, ports: Ports, clock: Clock, pause: Pause, *, beat_seconds: float = BEAT_SECONDS) -> None:
    try:
        hold = Hold.take(Resend, resend_id, ResendStatus.RUNNING, clock())
        resend = Resend.objects.select_related("group").get(pk=resend_id)
        _Work(resend, ports, hold, clock, pause, beat_seconds).to_the_end()
    except NotHeld as other:
        logger.info("%s", other)


class _Work:
    def __init__(
        self, resend: Resend, ports: Ports, hold: Hold, clock: Clock, pause: Pause, beat_seconds: float
    ) -> None:
        self._resend, self._ports, self._hold = resend, ports, hold
        self._clock, self._pause, self._beat_seconds = clock, pause, beat_seconds
        self._job = ResendJob(resend.pk, resend.group, resend.destination == Destination.GROUP)
        self._batch = Batch(resend, self._job, ports, hold, clock, self._with_heartbeat)
        self._failures = 0
        self._diverted = False

    def to_the_end(self) -> None:
        while True:
            if unsettled := self._items(ResendOutcome.SENDING):
                self._settle(unsettled)
                continue
            if self._is_cancelled():
                return finish(self._hold, None, self._clock())
            if reason := self._why_to_stop():
                return finish(self._hold, reason, self._clock())
            planned = self._items(ResendOutcome.PLANNED)[: self._batch_size]
            if not planned:
                return finish(self._hold, None, self._clock())
            self._send(planned)

    @property
    def _batch_size(self) -> int:
        """The messages of a quarter of a second. The first batch is one message: it shows whether the broker diverts
        messages.
        """
        is_first = not ResendItem.objects.filter(resend=self._resend, outcome=ResendOutcome.SENT).exists()
        return 1 if is_first else max(1, min(BATCH, int(self._resend.rate_per_second / 4)))

    def _send(self, items: list[ResendItem]) -> None:
        began = self._clock()
        self._batch.send(items)
        self._note(items)
        due = began + timedelta(seconds=len(items) / self._resend.rate_per_second)
        self._pause(max((due - self._clock()).total_seconds(), 0.0))

    def _settle(self, items: list[ResendItem]) -> None:
        """Waits until the queues are conclusive, then looks, and again later where a broker is silent."""
        while (wait := settled_from(items) - self._clock()) > timedelta():
            self._pause(min(wait, BEAT).total_seconds())
            self._hold.renew(self._clock())
        settle(self._ports, self._job, items, self._clock(), self._with_heartbeat)
        self._batch.save(items)
        self._note(items)
        if any(item.outcome == ResendOutcome.SENDING for item in items):
            self._pause(BEAT.total_seconds())

    def _with_heartbeat(self, ask: Callable[[], Answer]) -> Answer:
        return keep_alive(self._hold, self._clock, ask, beat_seconds=self._beat_seconds)

    def _note(self, items: list[ResendItem]) -> None:
        for item in items:
            self._failures = self._failures + 1 if item.outcome == ResendOutcome.FAILED else 0
        self._diverted = self._diverted or any(item.error == stored_reason(ResendCause.DIVERTED) for item in items)

    def _why_to_stop(self) -> str | None:
        if self._diverted:
            return stored_reason(ResendCause.DIVERTED)
        if self._failures >= FAILURES_IN_A_ROW:
            return stored_reason(ResendCause.FAILURES_IN_A_ROW, messages=self._failures)
        return why_not_sent(self._resend.pk)

    def _items(self, outcome: ResendOutcome) -> list[ResendItem]:
        return list(ResendItem.objects.filter(resend=self._resend, outcome=outcome).order_by("pk")[: 2 * BATCH])

    def _is_cancelled(self) -> bool:
        return Resend.objects.filter(pk=self._resend.pk, cancel_wanted=True).exists()


TAKEN_UP_WITHIN = timedelta(minutes=5)


def run(resend_id: UUID, clock: Clock, pause: Pause) -> None:
    """Ends the resend at once where its cluster cannot be reached."""
    resend = Resend.objects.select_related("group__cluster").get(pk=resend_id)
    cluster = resend.group.cluster
    if against := read_only_reason(cluster.name) or _why_too_late(resend, clock()):
        _give_up(resend_id, against, clock)
        return
    try:
        wire = connected(cluster)
    except (NoAccess, WireClosed) as reason:
        logger.error("The re-send %s ends: %s", resend_id, stored_words(str(reason)))
        _give_up(resend_id, str(reason), clock)
        return
    try:
        work(resend_id, Ports.of(cluster, wire, settings.POLL_CALL_DEADLINE_SECONDS), clock, pause)
    except WireClosed as lost:
        # The heartbeat goes stale; the next worker first looks for messages that were being sent.
        logger.warning("The re-send %s goes on soon, with other connections: %s", resend_id, stored_words(str(lost)))


def _why_too_late(resend: Resend, now: datetime) -> str | None:
    """Null for a resend that a worker has started, however long ago: its messages in transit must be settled."""
    if resend.working_at or resend.started_at is None or now - resend.started_at <= TAKEN_UP_WITHIN:
        return None
    return stored_reason(ResendCause.NO_WORKER)


def _give_up(resend_id: UUID, reason: str, clock: Clock) -> None:
    try:
        abandon(Hold.take(Resend, resend_id, ResendStatus.RUNNING, clock()), reason, clock())
    except NotHeld as other:
        logger.info("%s", other)
