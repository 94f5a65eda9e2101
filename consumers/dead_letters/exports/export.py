"""The worker's part of an export: reads the whole stock, takes what the filters choose, writes it in chunks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain

from consumers.dead_letters.index.used_up import Tries
from consumers.models import ConsumerGroup, ResendItem
from consumers.rocketmq.dead_messages import DeadMessage, dead_message
from consumers.rocketmq.errors import RemoteProtocolError
from consumers.rocketmq.message_values import StoredMessage
from consumers.selectors.dead_letters.filters import MAYBE_SENT
from consumers.selectors.queues import find_group

from .chunk_writer import ChunkWriter
from .lines import lines_of
from .rows import columns_of, content_row, facts_row
from .stock import Piece, Stock
from .wanted import ExportFailed, ExportWanted

CHUNK_MESSAGES, CHUNK_BYTES = 500, 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Limits:
    """`clock` counts seconds."""

    seconds: float
    body_bytes: int
    call_seconds: float
    clock: Callable[[], float]


@dataclass
class _Pending:
    """Lines that wait to fill a chunk."""

    lines: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, line: str) -> None:
        self.lines.append(line.encode())
        self.size += len(self.lines[-1])

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= CHUNK_MESSAGES or self.size >= CHUNK_BYTES

    def write(self, writer: ChunkWriter) -> int:
        """How many messages it were."""
        count = len(self.lines)
        if count:
            writer.put(b"".join(self.lines), count)
        self.lines, self.size = [], 0
        return count


def export(wanted: ExportWanted, writer: ChunkWriter, limits: Limits) -> int:
    """How many letters were written; to end the export is left to the caller.

    Nothing is written before a broker has answered. Raises ExportFailed, NobodyReads and RedisDown.
    """
    group = find_group(wanted.cluster, wanted.group)
    if group is None:
        raise ExportFailed(f"There is no group {wanted.group!r} in cluster {wanted.cluster!r}.")
    letters = _Letters(wanted, group, Tries.of(group, EPOCH), limits)
    pieces = _within(Stock(group.cluster, group.name, limits.call_seconds).pieces(), limits)
    first = next(pieces, None)
    writer.put(letters.head(), 0)
    written, pending = 0, _Pending()
    try:
        for piece in chain([first] if first else [], pieces):
            writer.live()
            for line in letters.lines(piece):
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
            raise ExportFailed(f"It took longer than {round(limits.seconds)} s: choose fewer letters.")
        yield piece


class _Letters:
    """Those of a stock that the filters choose, as lines."""

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
        """Those of the piece that were sent again, or may have been."""
        offsets = [message.queue_offset for message in piece.messages]
        items = ResendItem.objects.filter(
            resend__group=self._group, broker=piece.broker, offset__in=offsets, outcome__in=MAYBE_SENT
        )
        return set(items.values_list("queue_id", "offset", "stored_id"))
