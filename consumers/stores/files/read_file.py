"""Reads one offset file, also while it is being rewritten: file, again a few times, then its backup, as brokers do.

RocketMQ 5.4.0 moves the file to `.bak` and writes it anew (ConfigManager.persist); clients and brokers up to 5.3.2 copy
it to `.bak` and write over it (MixAll.string2File). A reader can find no file, an empty one, or half of one.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.rocketmq.bodies.fastjson import Entries, Entry
from consumers.rocketmq.bodies.offsets import consumer_offsets_table
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.rocketmq.wire.codes import RemoteProtocolError
from consumers.stores.files.stored_file import (
    BACKUP_SUFFIX,
    ROWS,
    Kind,
    StoredFile,
    kind_by_name,
    read_bytes,
    readable_name,
    rocksdb_beside,
    shown,
)
from consumers.vocabulary.offset_files import FileCode

from .problems import (
    BOM,
    Content,
    FileProblem,
    Finding,
    Problem,
    json_kind,
    listed,
    read_content,
    refuse_what_holds_nothing,
    stored,
)

# Rows of the three kinds of offset files, each with what is wrong with it.
# Collects the rows of a file one by one, each with what is wrong with it; a queue that stands twice is one row.
INT32, INT64 = 1 << 31, 1 << 63

# A row that stands a million times is told about so often: the first few tell what is wrong with it.
MOST_OF_A_ROW = 10

Row = tuple[str | None, str | None, str | None, int | None, int | None]


@dataclass
class RowCollector:
    """`add` keeps the last of the rows with one key, as fastjson does when a broker or client loads the file."""

    rows: dict[object, Row] = field(default_factory=dict)
    of_rows: dict[object, list[Finding]] = field(default_factory=dict)
    of_file: list[Finding] = field(default_factory=list)
    twice: set[object] = field(default_factory=set)

    def add(self, key: object, row: Row, findings: list[Finding], where: str) -> None:
        before, known = self.rows.get(key), self.of_rows.get(key, [])
        self.rows[key] = row
        if len(known) >= MOST_OF_A_ROW:
            return
        if before is not None and key not in self.twice:
            self.twice.add(key)
            known.append(Finding(FileCode.QUEUE_TWICE, where, {"first": before[4]}))
        known += findings
        if known:
            self.of_rows[key] = known

    @property
    def findings(self) -> list[Finding]:
        return [*self.of_file, *(finding for findings in self.of_rows.values() for finding in findings)]

    def table(self) -> pa.Table:
        found = [stored(self.of_rows.get(key, ())) for key in self.rows]
        columns = [*zip(*self.rows.values(), strict=True)] or [()] * 5
        return pa.table([*(list(column) for column in columns), found], schema=ROWS)


def read_queue_id(value: object, where: str) -> tuple[int | None, list[Finding]]:
    """A map's key; a standard JSON encoder writes the number as text. What no queue can have is kept with a finding."""
    return _whole_number(value, where, FileCode.QUEUE_ID_KIND, FileCode.QUEUE_ID_RANGE)


def _read_level(value: object, where: str) -> tuple[int | None, list[Finding]]:
    level, findings = _whole_number(value, where, FileCode.LEVEL_KIND, FileCode.LEVEL_RANGE)
    return level, [Finding(FileCode.LEVEL_ZERO, where)] if level == 0 else findings


def _whole_number(
    value: object, where: str, kind: FileCode, out_of_range: FileCode
) -> tuple[int | None, list[Finding]]:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19 else value
    if not isinstance(number, int) or isinstance(number, bool):
        return None, [Finding(kind, where, {"held": json_kind(value)})]
    in_range = number if -INT32 <= number < INT32 else None
    if not 0 <= number < INT32:
        return in_range, [Finding(out_of_range, where, {"number": str(number)})]
    return in_range, []


def read_offset(value: object, where: str) -> tuple[int | None, list[Finding]]:
    """Returns None for anything but a whole number of 64 bits. A negative number is returned with a finding."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None, [Finding(FileCode.OFFSET_KIND, where, {"held": json_kind(value)})]
    if not -INT64 <= value < INT64:
        return None, [Finding(FileCode.OFFSET_TOO_LARGE, where, {"offset": str(value)})]
    if value < 0:
        return value, [Finding(FileCode.OFFSET_NEGATIVE, where, {"offset": value})]
    return value, []


# `consumerOffset.json` of a broker: `topic@group` → queue id → offset.
#
# A file without a flaw, which is nearly every file, goes the way of GET_ALL_CONSUMER_OFFSET's body: columns, no
# objects.
# Any other is read entry by entry, so that each flaw is named with its line.
# What broadcasting clients report stands under `topic@group@broadcast` (RocketMQ 5.1.0, BroadcastOffsetManager).
BROADCAST = "@broadcast"

_TEXTS = re.compile(rb'"[^"]*"')

_SPACE = b" \t\r\n"

# Without the space between them, two numbers would become one.
_PARTED_BY_SPACE = re.compile(rb"[\w-][ \t\r\n]+[\w-]")

_LEADING_ZERO = re.compile(rb"[:{,]0[0-9]")


def broker_rows_at_once(body: bytes) -> pa.Table | None:
    """The rows of a file without a flaw; None where there may be one."""
    if b"\\" in body or any(byte in b"".join(_TEXTS.findall(body)) for byte in _SPACE):
        return None
    if _PARTED_BY_SPACE.search(body):
        return None
    compact = body.translate(None, _SPACE)
    try:
        table = consumer_offsets_table(compact)
    except RemoteProtocolError:
        return None
    return _in_rows(table) if _is_flawless(table, compact) else None


def _is_flawless(table: pa.Table, compact: bytes) -> bool:
    if table.num_rows == 0:
        return True
    queue_ids, offsets = table["queue_id"].to_numpy(), table["consumer_offset"].to_numpy()
    names = [name for column in ("group", "topic") for name in pc.unique(table[column]).to_pylist()]
    if queue_ids.min() < 0 or offsets.min() < 0 or _LEADING_ZERO.search(compact):
        return False
    if any(not name.isprintable() or not name or "@" in name for name in names):
        return False
    codes = [table[column].combine_chunks().indices.to_numpy().astype(np.int64) for column in ("group", "topic")]
    pair = codes[0] << 32 | codes[1]
    order = np.lexsort((queue_ids, pair))
    same = (np.diff(pair[order]) == 0) & (np.diff(queue_ids[order]) == 0)
    return not same.any()


def _in_rows(table: pa.Table) -> pa.Table:
    nulls = pa.nulls(table.num_rows, pa.string())
    names = [table[name].cast(pa.string()) for name in ("group", "topic")]
    return pa.table([nulls, *names, table["queue_id"], table["consumer_offset"], nulls], schema=ROWS)


def broker_rows(content: Content) -> RowCollector:
    """Every entry, each with what is wrong with it."""
    rows = RowCollector()
    times = Counter(entry.key for entry in content.entries)
    for entry in content.entries:
        where = f"line {content.line(entry.position)}, {shown(entry.key)}"
        group, topic, findings = split_key(entry.key, where)
        findings += _beside_others(entry.key, times, where)
        if not isinstance(entry.value, Entries):
            findings.append(Finding(FileCode.WRONG_VALUE, where, {"held": json_kind(entry.value)}))
            rows.add(entry.key, (None, group, topic, None, None), findings, where)
        elif entry.value:
            _add_queues(rows, entry, content, group, topic, findings)
        else:
            rows.of_file += findings
    return rows


def _beside_others(key: object, times: Counter[object], where: str) -> Iterator[Finding]:
    if times[key] > 1:
        yield Finding(FileCode.KEY_TWICE, where, {"times": times[key]})
    if isinstance(key, str) and key.endswith(BROADCAST) and key.removesuffix(BROADCAST) in times:
        yield Finding(FileCode.BOTH_MODELS, where)


def _add_queues(
    rows: RowCollector,
    entry: Entry,
    content: Content,
    group: str | None,
    topic: str | None,
    findings: list[Finding],
) -> None:
    for queue in entry.value if isinstance(entry.value, Entries) else ():
        where = f"line {content.line(queue.position)}, {shown(entry.key)} queue {shown(queue.key)}"
        queue_id, about_queue = read_queue_id(queue.key, where)
        offset, about_offset = read_offset(queue.value, where)
        row = (None, group, topic, queue_id, offset)
        key = (entry.key, queue.key if queue_id is None else queue_id)
        rows.add(key, row, [*findings, *about_queue, *about_offset], where)


def split_key(key: object, where: str) -> tuple[str | None, str | None, list[Finding]]:
    """Group and topic of `topic@group`, and what is wrong with it. A part that is not there is None."""
    if not isinstance(key, str):
        return None, None, [Finding(FileCode.KEY_FORM, where)]
    if key and not key.isprintable():
        return None, None, [Finding(FileCode.KEY_CHARACTERS, where)]
    topic, at, group = key.partition("@")
    group = group.removesuffix(BROADCAST)
    if not at and topic.startswith(RETRY_PREFIX):
        inferred = topic.removeprefix(RETRY_PREFIX) or None
        return inferred, topic, [Finding(FileCode.KEY_GROUP_INFERRED, where, {"group": inferred})]
    if not topic or not group:
        missing = FileCode.KEY_WITHOUT_GROUP if topic else FileCode.KEY_WITHOUT_TOPIC
        return group or None, topic or None, [Finding(missing, where)]
    if "@" in group:
        return group, topic, [Finding(FileCode.ODD_KEY, where, {"topic": topic, "group": group})]
    return group, topic, []


# `offsets.json` of a broadcasting client: queue → offset, where the queue is an object that is the key itself.
#
# Nothing in it names the client or the group: `…/{client id}/{group}/offsets.json` does (5.4.0,
# LocalFileOffsetStore).
def client_and_group(path: Path) -> tuple[str | None, str | None, tuple[Finding, ...]]:
    """From the two folders above the file; a client id has an '@' (ClientConfig.buildMQClientId)."""
    client_id, group = path.parent.parent.name, path.parent.name
    if client_id and group and "@" in client_id:
        return client_id, group, ()
    return None, None, (Finding(FileCode.OWNER_UNNAMED, None, {"path": str(path)}),)


def consumer_rows(content: Content, group: str | None) -> RowCollector:
    rows = RowCollector()
    for entry in content.entries:
        line = f"line {content.line(entry.position)}"
        if not isinstance(entry.key, tuple):
            finding = Finding(FileCode.KEY_NO_QUEUE, line, {"held": json_kind(entry.key)})
            rows.add(entry.key, (None, group, None, None, None), [finding], line)
            continue
        fields = dict(entry.key)
        broker, topic = readable_name(fields.get("brokerName")), readable_name(fields.get("topic"))
        where = f"{line}, {topic} {broker} queue {shown(fields.get('queueId'))}"
        named = {"brokerName": broker, "topic": topic, "queueId": fields.get("queueId")}
        missing = [name for name, value in named.items() if value is None]
        findings = [Finding(FileCode.KEY_LACKS, where, {"name": name}) for name in missing]
        queue_id, about_queue = (None, []) if "queueId" in missing else read_queue_id(named["queueId"], where)
        offset, about_offset = read_offset(entry.value, where)
        rows.add(entry.key, (broker, group, topic, queue_id, offset), [*findings, *about_queue, *about_offset], where)
    return rows


SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"


def delay_rows(content: Content) -> RowCollector:
    """`delayOffset.json` of a broker: delay level → offset in that level's queue, of messages that were delivered.

    It belongs to no group. The queue of level n is n - 1 of the schedule topic (RocketMQ 5.4.0,
    ScheduleMessageService).
    """
    rows = RowCollector()
    for entry in content.entries:
        where = f"line {content.line(entry.position)}, delay level {shown(entry.key)}"
        level, findings = _read_level(entry.key, where)
        queue_id = None if level is None or level < 1 else level - 1
        offset, about_offset = read_offset(entry.value, where)
        key = entry.key if level is None else level
        rows.add(key, (None, None, SCHEDULE_TOPIC, queue_id, offset), [*findings, *about_offset], where)
    return rows


Wait = Callable[[float], None]

# A file of 5 MB is written within some 20 ms; a slow disk may take longer.
WAITS_SECONDS = (0.05, 0.1, 0.2, 0.4)


@dataclass(frozen=True)
class _Parsed:
    kind: Kind
    rows: pa.Table
    modified_at: datetime
    findings: list[Finding]


def read_offset_file(path: Path, now: datetime, max_bytes: int, wait: Wait, folders: Sequence[str]) -> StoredFile:
    """Never raises for what is wrong with a file; `wait` is called between attempts with the seconds to wait. Of a file
    that does not parse no character is told. `folders`: no file outside of them is opened."""
    try:
        return _stored(path, _attempts(path, max_bytes, wait, folders))
    except FileProblem as problem:
        if not problem.passing:
            return _failed(path, problem)
        return _from_backup(path, problem, now, max_bytes, folders)


def _attempts(path: Path, max_bytes: int, wait: Wait, folders: Sequence[str]) -> _Parsed:
    for seconds in WAITS_SECONDS:
        try:
            return _read(path, path, max_bytes, folders)
        except FileProblem as problem:
            if not problem.passing:
                raise
        wait(seconds)
    return _read(path, path, max_bytes, folders)


def _from_backup(path: Path, problem: FileProblem, now: datetime, max_bytes: int, folders: Sequence[str]) -> StoredFile:
    backup = path.with_name(path.name + BACKUP_SUFFIX)
    try:
        parsed = _read(path, backup, max_bytes, folders)
    except FileProblem as worse:
        # That there is no backup either is nothing to add.
        return _failed(path, problem, worse.of(backup.name) if os.path.exists(backup) else None)
    age = (now - parsed.modified_at).total_seconds()
    params = {"backup": backup.name, "age_seconds": age, "problem": problem.of(path.name).members()}
    return _stored(path, parsed, from_backup=True).with_findings(Finding(FileCode.FROM_BACKUP, None, params))


def _read(path: Path, source: Path, max_bytes: int, folders: Sequence[str]) -> _Parsed:
    """`source` is read as what `path` is."""
    kind = kind_by_name(path)
    if kind is None:
        raise FileProblem(FileCode.OTHER_NAME)
    body, modified_at = read_bytes(source, max_bytes, folders)
    refuse_what_holds_nothing(body)
    if kind == "broker_file" and not body.startswith(BOM):
        at_once = broker_rows_at_once(body)
        if at_once is not None:
            return _Parsed(kind, at_once, modified_at, [])
    content = read_content(body)
    if kind == "broker_file":
        rows = broker_rows(content)
    elif kind == "delay_file":
        rows = delay_rows(content)
    else:
        rows = consumer_rows(content, client_and_group(path)[1])
    return _Parsed(kind, rows.table(), modified_at, [*content.findings, *rows.findings])


def _stored(path: Path, parsed: _Parsed, *, from_backup: bool = False) -> StoredFile:
    findings = list(parsed.findings)
    client_id, group = None, None
    if parsed.kind == "consumer_file":
        client_id, group, unnamed = client_and_group(path)
        findings += unnamed
    if parsed.kind == "broker_file" and (folder := rocksdb_beside(path)):
        findings.append(Finding(FileCode.BESIDE_ROCKSDB, None, {"folder": str(folder)}))
    return StoredFile(
        path=path,
        kind=parsed.kind,
        rows=parsed.rows,
        modified_at=parsed.modified_at,
        from_backup=from_backup,
        findings=listed(findings),
        client_id=client_id,
        group=group,
    )


def _failed(path: Path, problem: FileProblem, of_backup: Problem | None = None) -> StoredFile:
    kind = kind_by_name(path)
    client_id, group, _ = client_and_group(path) if kind == "consumer_file" else (None, None, ())
    error = replace(problem.of(path), backup=of_backup)
    return StoredFile(path=path, kind=kind, error=error, client_id=client_id, group=group)
