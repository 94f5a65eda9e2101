"""Rows of a broker's file compared with earlier ones and with its memory: offsets that vanished or went back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.stores.files.stored_file import ROWS, StoredFile

from .findings import Finding, listed

# Says of many rows at once what is wrong with them: at the rows, and once for each sentence in the file's list.
Say = Callable[[int], str]


def mark(file: StoredFile, where: np.ndarray, name: str, say: Say) -> StoredFile:
    """`where`: one truth a row; `say` gives the sentence of a row by its number."""
    if file.rows is None or not where.any():
        return file
    said = file.rows["finding"].to_pylist()
    places: dict[str, str] = {}
    for at in np.flatnonzero(where).tolist():
        sentence = say(at)
        places.setdefault(sentence, place(file.rows, at))
        said[at] = sentence if said[at] is None else f"{said[at]} {sentence}"
    found = [Finding(name, at_row, sentence) for sentence, at_row in places.items()]
    rows = file.rows.set_column(ROWS.names.index("finding"), ROWS.field("finding"), pa.array(said, pa.string()))
    return replace(file, rows=rows, findings=(*file.findings, *listed(found)))


def place(rows: pa.Table, at: int) -> str:
    topic, group, queue_id = (rows[name][at].as_py() for name in ("topic", "group", "queue_id"))
    return f"{topic}@{group} queue {queue_id}" if group is not None else f"{topic} queue {queue_id}"


# Which broker a broker's file belongs to: as its glob says, or as nothing else is possible; else nobody knows.
OF_BROKERS = ("broker_file", "delay_file")


def assign_brokers(
    files: Sequence[StoredFile], named: Mapping[str, str | None], brokers: frozenset[str] | None
) -> list[StoredFile]:
    """`named`: the broker that a path's glob names. `brokers`: all of the cluster's; None: that was not read."""
    files = [replace(file, broker=named.get(str(file.path))) if file.kind in OF_BROKERS else file for file in files]
    claims: dict[tuple[str | None, str | None], int] = {}
    for file in files:
        claims[file.kind, file.broker] = claims.get((file.kind, file.broker), 0) + 1
    return [_assign(file, claims, brokers) if file.kind in OF_BROKERS else file for file in files]


def _assign(
    file: StoredFile, claims: Mapping[tuple[str | None, str | None], int], brokers: frozenset[str] | None
) -> StoredFile:
    if file.broker is None:
        return _infer(file, claims, brokers)
    if claims[file.kind, file.broker] > 1:
        sentence = f"More than one {file.path.name} is said to be of {file.broker}: name one, of its master."
        return file.with_findings(Finding("broker_named_twice", None, sentence))
    return file


def _infer(
    file: StoredFile, claims: Mapping[tuple[str | None, str | None], int], brokers: frozenset[str] | None
) -> StoredFile:
    """Certain only where the cluster has one broker, and this file is the only one that can be its."""
    if brokers is not None and len(brokers) == 1 and claims[file.kind, None] == 1:
        (only,) = brokers
        if (file.kind, only) not in claims:
            return replace(file, broker=only)
    sentence = f"Nothing tells which broker this file is of: write BROKER={file.path} in the cluster's offset files."
    return file.with_findings(Finding("broker_not_told", None, sentence))


# Finds the rows of one table in another by group, topic and queue, as integers.
QUEUE_ID_BITS = 32


@dataclass(frozen=True)
class Numbers:
    """A number for each row; where `known` is False it means nothing."""

    values: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> "Numbers":
        return cls(pc.fill_null(column, 0).to_numpy().astype(np.int64), _valid(column))

    @classmethod
    def none(cls, size: int) -> "Numbers":
        return cls(np.zeros(size, np.int64), np.zeros(size, bool))

    def above(self, other: "Numbers") -> np.ndarray:
        above: np.ndarray = self.known & other.known & (self.values > other.values)
        return above


@dataclass(frozen=True)
class QueueKeys:
    """The queues of some rows. A row without group, topic or queue id has no key and is found nowhere."""

    groups: pa.Array
    topics: pa.Array
    pairs: np.ndarray
    keys: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, rows: pa.Table) -> "QueueKeys":
        groups, topics = pc.unique(rows["group"]), pc.unique(rows["topic"])
        pair, known = _pair(rows, groups, topics)
        pairs = np.unique(pair)
        return cls(groups, topics, pairs, _keys(pair, pairs, rows), known)

    def look_up(self, other: pa.Table | None) -> Numbers:
        """The `offset` that `other` has for each queue; the lowest where it has several."""
        if other is None or not other.num_rows or not len(self.keys):
            return Numbers.none(len(self.keys))
        pair, known = _pair(other, self.groups, self.topics)
        offsets = Numbers.of(other["offset"])
        kept = known & offsets.known & np.isin(pair, self.pairs)
        keys, values = _keys(pair, self.pairs, other)[kept], offsets.values[kept]
        if not len(keys):
            return Numbers.none(len(self.keys))
        order = np.lexsort((values, keys))
        at = np.minimum(np.searchsorted(keys[order], self.keys), len(order) - 1)
        return Numbers(values[order][at], self.known & (keys[order][at] == self.keys))


def _pair(rows: pa.Table, groups: pa.Array, topics: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    codes = [
        pc.index_in(rows[name].cast(pa.string()), value_set=names)
        for name, names in (("group", groups), ("topic", topics))
    ]
    valid = _valid(rows["group"]) & _valid(rows["topic"]) & _valid(rows["queue_id"])
    known = valid & _valid(codes[0]) & _valid(codes[1])
    group, topic = (pc.fill_null(code, 0).to_numpy().astype(np.int64) for code in codes)
    return group * max(len(topics), 1) + topic, known


def _keys(pair: np.ndarray, pairs: np.ndarray, rows: pa.Table) -> np.ndarray:
    queue_ids = pc.fill_null(rows["queue_id"], 0).to_numpy().astype(np.int64)
    keys: np.ndarray = (np.searchsorted(pairs, pair) << QUEUE_ID_BITS) + queue_ids
    return keys


def _valid(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False), bool)


# Offsets of a broker's file that went back: below what the same file held before, or below the broker's memory.
#
# A broker resumes from its file. An offset there that is lower than it should be is consumed again from there on.
# Brokers write their memory every 5 s (flushConsumerOffsetInterval); twice that was surely written.
UNWRITTEN = timedelta(seconds=10)


@dataclass(frozen=True)
class MemoryOffsets:
    """A broker's own offsets at `taken_at`. `rows`: group, topic, queue_id, offset."""

    taken_at: datetime
    rows: pa.Table


def mark_went_back(
    file: StoredFile, before: StoredFile | None, memory: MemoryOffsets | None, memory_before: MemoryOffsets | None
) -> StoredFile:
    """`before`: the file as last read. `memory`, `memory_before`: at this and at an earlier reading; None: not read."""
    if file.rows is None or file.kind != "broker_file":
        return file
    offsets, queues = Numbers.of(file.rows["offset"]), QueueKeys.of(file.rows)
    held = queues.look_up(before.rows if before else None)
    now = queues.look_up(memory.rows if memory else None)
    earlier = queues.look_up(memory_before.rows if memory_before else None)
    lower = held.above(offsets)
    # What is below the earlier memory, but not below today's, was reset meanwhile.
    behind = earlier.above(offsets) & now.above(offsets) & ~lower & _was_written_since(file, memory_before)

    def say_lower(at: int) -> str:
        offset, before_it = offsets.values[at], held.values[at]
        cause = _cause(file, int(offset), int(before_it), int(now.values[at]) if now.known[at] else None)
        return f"{offset} is lower than {before_it}, which this file held before: {cause}"

    def say_behind(at: int) -> str:
        assert memory_before is not None
        return (
            f"{offsets.values[at]} is lower than {earlier.values[at]}, which the broker's memory held at "
            f"{memory_before.taken_at:%H:%M:%S} UTC, before this file was written: edited, or not this broker's file."
        )

    return mark(mark(file, lower, "went_back", say_lower), behind, "behind_memory", say_behind)


def _cause(file: StoredFile, offset: int, held: int, memory: int | None) -> str:
    again = f"{held - offset} messages are consumed again if the broker starts from it."
    if file.from_backup:
        return f"it is the offset of its backup, which is older. {again}"
    if memory is None:
        return f"edited, restored from an older copy, or reset (the broker's memory is not known). {again}"
    if memory >= held:
        return f"edited or restored, as the broker's memory holds {memory} and will be written over it. {again}"
    return "the broker's memory went back too, as after a reset."


def _was_written_since(file: StoredFile, memory: MemoryOffsets | None) -> bool:
    return memory is not None and file.modified_at is not None and file.modified_at >= memory.taken_at + UNWRITTEN


# Offsets that a broker's file held and holds no more, while nothing says that they were deleted.
#
# A member of a group without an offset starts where its ConsumeFromWhere says: it may skip or repeat everything.
def mark_vanished(file: StoredFile, before: StoredFile | None, memory: MemoryOffsets | None) -> StoredFile:
    """What the broker's memory has lost too was deleted by the broker, and is no finding. There is no row to mark."""
    if file.rows is None or file.kind != "broker_file" or before is None or before.rows is None:
        return file
    queues = QueueKeys.of(before.rows)
    gone = queues.known & ~queues.look_up(file.rows).known
    held = queues.look_up(before.rows)
    if memory is not None:
        gone &= queues.look_up(memory.rows).known
    cause = (
        "edited, as the broker's memory still has it and will write it again."
        if memory is not None
        else "edited, or deleted by the broker (its memory is not known)."
    )
    found = []
    for at in np.flatnonzero(gone & held.known).tolist():
        where = place(before.rows, at)
        sentence = f"The offset of {where}, {held.values[at]} before, is gone from the file: {cause}"
        found.append(Finding("vanished", where, sentence))
    return file.with_findings(*listed(found))
