"""Reads what is not indexed of one dead-letter queue: first what came since, then backwards to where it is kept from.

The newest letters are there first, and what is indexed has no hole whenever the calls run out.
"""

from dataclasses import dataclass, field

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.dead_messages import DeadMessage, dead_message
from consumers.rocketmq.messages.message_values import Pulled, PullOutcome
from consumers.rocketmq.wire.errors import RocketMQError

from .places import Calls, Ends, Indexed

# The most that a broker gives at once (5.4.0, MessageStoreConfig.maxTransferCountOnMessageInMemory).
AT_ONCE = 32


@dataclass
class QueueRead:
    """`letters` are those in [since, until) that had no row. `anew`: rows that there were are of another topic of the
    same name. `failure` or `error` is why not everything that the calls allowed was read."""

    since: int
    until: int
    letters: list[DeadMessage] = field(default_factory=list)
    anew: bool = False
    failure: RocketMQError | None = None
    error: str | None = None


@dataclass(frozen=True)
class DeadQueue:
    admin: BrokerAdmin
    topic: str
    queue_id: int
    deadline_seconds: float

    async def pull(self, offset: int) -> Pulled:
        return await self.admin.pull(self.topic, self.queue_id, offset, AT_ONCE, deadline_seconds=self.deadline_seconds)


async def read_queue(queue: DeadQueue, ends: Ends, kept_from: int, indexed: Indexed | None, calls: Calls) -> QueueRead:
    """Asks for offsets in [min_offset, broker_offset) only."""
    low = max(kept_from, ends.min_offset)
    read = _begin(ends, low, indexed)
    try:
        if not read.anew and indexed is not None and not await _is_same(queue, ends, indexed, calls):
            read = QueueRead(ends.broker_offset, ends.broker_offset, anew=True)
        await _read_on(queue, read, ends, calls)
        await _read_back(queue, read, low, calls)
    except RocketMQError as failure:
        read.failure = failure
    return read


def _begin(ends: Ends, low: int, indexed: Indexed | None) -> QueueRead:
    """Where nothing of what is indexed is kept, it begins at the end."""
    if indexed is None or indexed.until < low:
        return QueueRead(ends.broker_offset, ends.broker_offset)
    if indexed.until > ends.broker_offset:
        return QueueRead(ends.broker_offset, ends.broker_offset, anew=True)
    return QueueRead(max(indexed.since, low), indexed.until)


async def _is_same(queue: DeadQueue, ends: Ends, indexed: Indexed, calls: Calls) -> bool:
    """A topic that was deleted and made again may have grown past where the other ended: its messages lie elsewhere."""
    last = indexed.until - 1
    if indexed.last_stored_id is None or last < ends.min_offset or not calls.take():
        return True
    pulled = await queue.pull(last)
    found = next((message for message in pulled.messages if message.queue_offset == last), None)
    return found is None or found.stored_id == indexed.last_stored_id


async def _read_on(queue: DeadQueue, read: QueueRead, ends: Ends, calls: Calls) -> None:
    while read.until < ends.broker_offset and calls.take():
        at = _after(await queue.pull(read.until), read.until, read)
        if at is None:
            read.error = read.error or _nothing_at(read.until)
            return
        read.until = at


async def _read_back(queue: DeadQueue, read: QueueRead, low: int, calls: Calls) -> None:
    """In pieces that count only when they are whole."""
    while read.since > low and read.error is None:
        start = max(low, read.since - AT_ONCE)
        piece = QueueRead(start, start)
        while piece.until < read.since:
            if not calls.take():
                return
            at = _after(await queue.pull(piece.until), piece.until, piece, before=read.since)
            if at is None:
                read.error = piece.error or _nothing_at(piece.until)
                return
            piece.until = at
        read.letters += piece.letters
        read.since = start


def _nothing_at(offset: int) -> str:
    return f"the broker says that its queue goes on beyond {offset}, and gives no message there"


def _after(pulled: Pulled, offset: int, read: QueueRead, before: int | None = None) -> int | None:
    """Where to go on; null where there is nothing more at present. Takes the letters in [offset, before)."""
    if pulled.outcome is PullOutcome.RETRY:
        read.error = f"the broker cannot read what lies at {offset} at present"
        return None
    letters = [dead_message(m) for m in pulled.messages if m.queue_offset >= offset]
    read.letters += [letter for letter in letters if before is None or letter.offset < before]
    if letters:
        return letters[-1].offset + 1
    # Messages may be gone before their places are: the broker names the next that is there.
    return pulled.next_offset if pulled.outcome is PullOutcome.MOVED and pulled.next_offset > offset else None
