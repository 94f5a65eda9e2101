"""Rows of a broker's file compared with earlier ones and with its memory: offsets that vanished or went back."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.stores.files.stored_file import ROWS, StoredFile
from consumers.vocabulary.offset_files import FileCode
from consumers.vocabulary.times import iso

from .files.problems import Finding, listed, stored

# What is wrong with a row, by its number.
Describe = Callable[[int], tuple[FileCode, dict[str, Any]]]


def mark(file: StoredFile, where: np.ndarray, describe: Describe) -> StoredFile:
    """Gives a finding to many rows at once, and to the file's list once for each that differs. `where`: one truth a
    row."""
    if file.rows is None or not where.any():
        return file
    of_rows = file.rows["finding"].to_pylist()
    found: dict[str, Finding] = {}
    for at in np.flatnonzero(where).tolist():
        code, params = describe(at)
        own = Finding(code, None, params)
        text = stored([own]) or ""
        if text not in found:
            found[text] = replace(own, where=place(file.rows, at))
        of_rows[at] = text if of_rows[at] is None else stored([own], of_rows[at])
    rows = file.rows.set_column(ROWS.names.index("finding"), ROWS.field("finding"), pa.array(of_rows, pa.string()))
    return replace(file, rows=rows, findings=(*file.findings, *listed([*found.values()])))


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
        named = {"file": file.path.name, "broker": file.broker}
        return file.with_findings(Finding(FileCode.BROKER_NAMED_TWICE, None, named))
    return file


def _infer(
    file: StoredFile, claims: Mapping[tuple[str | None, str | None], int], brokers: frozenset[str] | None
) -> StoredFile:
    """Certain only where the cluster has one broker, and this file is the only one that can be its."""
    if brokers is not None and len(brokers) == 1 and claims[file.kind, None] == 1:
        (only,) = brokers
        if (file.kind, only) not in claims:
            return replace(file, broker=only)
    return file.with_findings(Finding(FileCode.BROKER_UNNAMED, None, {"path": str(file.path)}))


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
        matched = known & offsets.known & np.isin(pair, self.pairs)
        keys, values = _keys(pair, self.pairs, other)[matched], offsets.values[matched]
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
# A broker writes its memory at an interval (flushConsumerOffsetInterval): what is older than two was surely written.
# RocketMQ's default, in milliseconds.
FLUSH_OFFSETS_MS = 5_000


def unwritten(flush_offsets_ms: int | None) -> timedelta:
    """How young a broker's memory may be without being in its file. Null: the interval was not read."""
    return 2 * timedelta(milliseconds=flush_offsets_ms or FLUSH_OFFSETS_MS)


@dataclass(frozen=True)
class MemoryOffsets:
    """A broker's own offsets at `taken_at`. `rows`: group, topic, queue_id, offset."""

    taken_at: datetime
    rows: pa.Table


def mark_went_back(
    file: StoredFile,
    before: StoredFile | None,
    memory: MemoryOffsets | None,
    memory_before: MemoryOffsets | None,
    flush_offsets_ms: int | None = None,
) -> StoredFile:
    """`before`: the file as last read. `memory`, `memory_before`: at this and at an earlier reading; None: not read.
    `flush_offsets_ms`: how often the broker writes the file; None: not read."""
    if file.rows is None or file.kind != "broker_file":
        return file
    offsets, queues = Numbers.of(file.rows["offset"]), QueueKeys.of(file.rows)
    held = queues.look_up(before.rows if before else None)
    now = queues.look_up(memory.rows if memory else None)
    earlier = queues.look_up(memory_before.rows if memory_before else None)
    lower = held.above(offsets)
    # What is below the earlier memory, but not below today's, was reset meanwhile.
    behind = (
        earlier.above(offsets)
        & now.above(offsets)
        & ~lower
        & _was_written_since(file, memory_before, unwritten(flush_offsets_ms))
    )

    def went_back(at: int) -> tuple[FileCode, dict[str, Any]]:
        in_memory = int(now.values[at]) if now.known[at] else None
        return _went_back(file, int(offsets.values[at]), int(held.values[at]), in_memory)

    def behind_memory(at: int) -> tuple[FileCode, dict[str, Any]]:
        assert memory_before is not None
        params = {"offset": int(offsets.values[at]), "memory": int(earlier.values[at])}
        return FileCode.BEHIND_MEMORY, {**params, "at": iso(memory_before.taken_at)}

    return mark(mark(file, lower, went_back), behind, behind_memory)


def _went_back(file: StoredFile, offset: int, held: int, memory: int | None) -> tuple[FileCode, dict[str, Any]]:
    params = {"offset": offset, "before": held, "messages": held - offset}
    if file.from_backup:
        return FileCode.WENT_BACK_BACKUP, params
    if memory is None:
        return FileCode.WENT_BACK, params
    if memory >= held:
        return FileCode.WENT_BACK_EDITED, {**params, "memory": memory}
    return FileCode.WENT_BACK_RESET, params


def _was_written_since(file: StoredFile, memory: MemoryOffsets | None, after: timedelta) -> bool:
    return memory is not None and file.modified_at is not None and file.modified_at >= memory.taken_at + after


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
    code = FileCode.VANISHED_EDITED if memory is not None else FileCode.VANISHED
    found = [
        Finding(code, place(before.rows, at), {"offset": int(held.values[at])})
        for at in np.flatnonzero(gone & held.known).tolist()
    ]
    return file.with_findings(*listed(found))


# What the cluster knows, held against what a file says: topics, groups, members. What was not read judges nothing.

# Brokers and clients write every 5 s; so long without a write is no accident of timing.
STALE = timedelta(minutes=10)


@dataclass(frozen=True)
class PresentMembers:
    """`client_ids` is None unless every broker of the group said who its members are."""

    client_ids: frozenset[str] | None
    message_model: str | None


@dataclass(frozen=True)
class KnownNames:
    """None: not read, or not read whole."""

    topics: frozenset[str] | None
    groups: frozenset[str] | None
    brokers: frozenset[str] | None
    members: Mapping[str, PresentMembers]


def mark_unknown_names(file: StoredFile, known: KnownNames) -> StoredFile:
    for column, names, code in (
        ("topic", known.topics, FileCode.UNKNOWN_TOPIC),
        ("group", known.groups, FileCode.UNKNOWN_GROUP),
        ("broker", known.brokers, FileCode.UNKNOWN_BROKER),
    ):
        if names is not None and file.rows is not None:
            file = _mark_unknown(file, column, names, code)
    if file.broker is not None and known.brokers is not None and file.broker not in known.brokers:
        file = file.with_findings(Finding(FileCode.BROKER_NOT_IN_CLUSTER, None, {"broker": file.broker}))
    return file


def _mark_unknown(file: StoredFile, column: str, names: Iterable[str], code: FileCode) -> StoredFile:
    assert file.rows is not None
    values = file.rows[column]
    unknown = pc.and_(pc.is_valid(values), pc.invert(pc.is_in(values, value_set=pa.array(sorted(names), pa.string()))))
    return mark(file, np.asarray(unknown.to_numpy(), bool), lambda at: (code, {"name": values[at].as_py()}))


def mark_abandoned(file: StoredFile, known: KnownNames, now: datetime) -> StoredFile:
    """Files that nobody writes any more, and files of clients that are gone: their offsets are not anybody's lag."""
    if file.rows is None or file.modified_at is None:
        return file
    stale, written = now - file.modified_at > STALE, {"at": iso(file.modified_at)}
    if file.kind == "consumer_file" and file.group is not None:
        members = known.members.get(file.group)
        if stale and members and members.client_ids is not None and file.client_id not in members.client_ids:
            return _mark_all(file, FileCode.LEFT_BEHIND, written)
        if members and members.message_model == "CLUSTERING":
            file = file.with_findings(Finding(FileCode.NOT_BROADCASTING, None, {"group": file.group}))
    if stale:
        file = file.with_findings(Finding(FileCode.STALE, None, written))
    return file


def _mark_all(file: StoredFile, code: FileCode, params: dict[str, str]) -> StoredFile:
    assert file.rows is not None
    if not file.rows.num_rows:
        return file.with_findings(Finding(code, None, params))
    marked = mark(file, np.ones(file.rows.num_rows, bool), lambda at: (code, params))
    return replace(marked, findings=(*file.findings, Finding(code, None, params)))
