"""The worker's part of an export: reads all dead-letter messages, filters them, and writes them in chunks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from django.utils.translation import gettext

from consumers.dead_letters.export_channel import ChunkWriter
from consumers.dead_letters.export_stream import (
    ExportFailed,
    ExportWanted,
    columns_of,
    content_row,
    facts_row,
    lines_of,
)
from consumers.dead_letters.filters import MAYBE_SENT
from consumers.dead_letters.read_queue import DeadQueue, Ends, Place, Tries, reason_of
from consumers.jobs.hold import connected, masters, without_address
from consumers.models import Cluster, ConsumerGroup, ResendItem
from consumers.polling.registration import NoAccess, Wire
from consumers.queries.groups import find_group
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.dead import DeadMessage, dead_message
from consumers.rocketmq.messages.stored import PullOutcome, StoredMessage
from consumers.rocketmq.names import dlq_topic
from consumers.rocketmq.wire.codes import BrokerRefused, RemoteProtocolError, ResponseCode, RocketMQError
from consumers.vocabulary.reasons import PollProblem, stored_reason
from consumers.vocabulary.times import EPOCH
from consumers.words.reasons import stored_words

# All messages that a group's dead-letter queues hold, read from the brokers from begin to end.
# One answer of a broker is held in memory at a time.


@dataclass(frozen=True)
class Piece:
    """The messages of one answer of a broker; may be empty."""

    broker: str
    messages: tuple[StoredMessage, ...]


@dataclass(frozen=True)
class Stock:
    """Every step raises ExportFailed. Messages that arrive after the start are left out.

    `alive` is called before each broker is asked for its queues: before the first piece all of them are.
    """

    cluster: Cluster
    group: str
    deadline_seconds: float
    alive: Callable[[], None] = lambda: None

    def pieces(self) -> Iterator[Piece]:
        try:
            wire = connected(self.cluster)
            brokers = masters(self.cluster, wire)
            if not brokers:
                raise ExportFailed(
                    gettext("No broker of %(cluster)s is known yet: the cluster was not read.")
                    % {"cluster": self.cluster}
                )
            ends: dict[Place, Ends] = {}
            for name, admin in brokers.items():
                self.alive()
                ends |= wire.run(self._ends(name, admin))
            for (name, queue_id), place in sorted(ends.items()):
                queue = DeadQueue(brokers[name], dlq_topic(self.group), queue_id, self.deadline_seconds)
                for messages in self._queue(wire, queue, place):
                    yield Piece(name, messages)
            if unread := without_address(self.cluster):
                why = stored_reason(PollProblem.NO_MASTER_LISTED, broker=", ".join(unread))
                raise ExportFailed(stored_words(why))
        except NoAccess as error:
            raise ExportFailed(stored_words(str(error))) from None
        except RocketMQError as error:
            raise ExportFailed(stored_words(reason_of(error, dlq_topic(self.group)))) from None

    async def _ends(self, name: str, admin: BrokerAdmin) -> dict[Place, Ends]:
        """Empty for a broker without the topic: it has no dead-letter message of the group."""
        try:
            stats = await admin.topic_stats(dlq_topic(self.group), deadline_seconds=self.deadline_seconds)
        except BrokerRefused as refusal:
            if refusal.code == ResponseCode.TOPIC_NOT_EXIST:
                return {}
            raise
        return {(name, queue.queue_id): Ends(queue.min_offset, queue.max_offset) for queue in stats}

    def _queue(self, wire: Wire, queue: DeadQueue, ends: Ends) -> Iterator[tuple[StoredMessage, ...]]:
        at = ends.min_offset
        while at < ends.broker_offset:
            pulled = wire.run(queue.pull(at))
            found = tuple(m for m in pulled.messages if at <= m.queue_offset < ends.broker_offset)
            if found:
                at = found[-1].queue_offset + 1
            elif pulled.outcome is PullOutcome.MOVED and pulled.next_offset > at:
                # These messages expired meanwhile: the broker names the next existing offset.
                at = pulled.next_offset
            elif pulled.messages:
                return
            else:
                raise ExportFailed(
                    gettext(
                        "%(address)s: the broker returned no message at offset %(at)s of queue %(queue)s, which "
                        "ends at %(end)s: %(outcome)s."
                    )
                    % {
                        "address": queue.admin.address,
                        "at": at,
                        "outcome": pulled.outcome,
                        "queue": queue.queue_id,
                        "end": ends.broker_offset,
                    }
                )
            yield found


CHUNK_MESSAGES, CHUNK_BYTES = 500, 1_000_000


@dataclass(frozen=True)
class Limits:
    """`clock` counts seconds."""

    seconds: float
    body_bytes: int
    call_seconds: float
    clock: Callable[[], float]


@dataclass
class _Pending:
    """Lines that are collected for the next chunk."""

    lines: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, line: str) -> None:
        self.lines.append(line.encode())
        self.size += len(self.lines[-1])

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= CHUNK_MESSAGES or self.size >= CHUNK_BYTES

    def write(self, writer: ChunkWriter) -> int:
        """Returns how many messages were written."""
        count = len(self.lines)
        if count:
            writer.put(b"".join(self.lines), count)
        self.lines, self.size = [], 0
        return count


def export(wanted: ExportWanted, writer: ChunkWriter, limits: Limits) -> int:
    """Returns how many messages were written; the caller ends the export.

    Nothing is written before a broker has answered. Raises ExportFailed, NobodyReads and RedisDown.
    """
    group = find_group(wanted.cluster, wanted.group)
    if group is None:
        raise ExportFailed(
            gettext("There is no group %(group)s in cluster %(cluster)s.")
            % {"group": repr(wanted.group), "cluster": repr(wanted.cluster)}
        )
    messages = _ExportedMessages(wanted, group, Tries.of(group, EPOCH), limits)
    pieces = _within(Stock(group.cluster, group.name, limits.call_seconds, writer.live).pieces(), limits)
    first = next(pieces, None)
    writer.put(messages.head(), 0)
    written, pending = 0, _Pending()
    try:
        for piece in chain([first] if first else [], pieces):
            writer.live()
            for line in messages.lines(piece):
                pending.add(line)
                if pending.is_full:
                    written += pending.write(writer)
    except ExportFailed:
        pending.write(writer)
        raise
    return written + pending.write(writer)


def _within(pieces: Iterator[Piece], limits: Limits) -> Iterator[Piece]:
    until = limits.clock() + limits.seconds
    for piece in pieces:
        if limits.clock() > until:
            raise ExportFailed(
                gettext("The export took longer than %(seconds)s s. Select fewer messages.")
                % {"seconds": round(limits.seconds)}
            )
        yield piece


class _ExportedMessages:
    """The messages that pass the filters, as lines."""

    def __init__(self, wanted: ExportWanted, group: ConsumerGroup, tries: Tries, limits: Limits) -> None:
        self._wanted, self._group, self._tries, self._limits = wanted, group, tries, limits
        self._lines = lines_of(wanted.format, columns_of(with_bodies=wanted.with_bodies))

    def head(self) -> bytes:
        return self._lines.head().encode()

    def lines(self, piece: Piece) -> Iterator[str]:
        resent = self._resent(piece)
        for message in piece.messages:
            letter = self._letter(piece, message)
            was_resent = (letter.queue_id, letter.offset, letter.stored_id) in resent
            if not self._wanted.filters.matches(letter, was_resent=was_resent):
                continue
            sent = self._tries.sent_by_application(piece.broker, letter.reconsume_times, letter.stored_at)
            row = facts_row(piece.broker, letter, sent_by_application=sent, was_resent=was_resent)
            if self._wanted.with_bodies:
                row |= content_row(message, self._limits.body_bytes)
            yield self._lines.line(row)

    def _letter(self, piece: Piece, message: StoredMessage) -> DeadMessage:
        try:
            return dead_message(message)
        except RemoteProtocolError as error:
            raise ExportFailed(f"{piece.broker}: {error}") from None

    def _resent(self, piece: Piece) -> set[tuple[int, int, str]]:
        """The messages of the piece that were resent, or may have been."""
        offsets = [message.queue_offset for message in piece.messages]
        items = ResendItem.objects.filter(
            resend__group=self._group, broker=piece.broker, offset__in=offsets, outcome__in=MAYBE_SENT
        )
        return set(items.values_list("queue_id", "offset", "stored_id"))
