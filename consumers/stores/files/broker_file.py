"""`consumerOffset.json` of a broker: `topic@group` → queue id → offset.

A file without a flaw, which is nearly every file, goes the way of GET_ALL_CONSUMER_OFFSET's body: columns, no objects.
Any other is read entry by entry, so that each flaw is named with its line.
"""

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.rocketmq.bodies.fastjson_entries import Entries, Entry
from consumers.rocketmq.bodies.offset_tables import consumer_offsets_table
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.rocketmq.wire.errors import RemoteProtocolError
from consumers.stores.checks.findings import Finding

from .content import Content
from .file_names import shown
from .rows import RowCollector, held, read_offset, read_queue_id
from .stored_file import ROWS

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
            sentence = f"{where}: holds {held(entry.value)} where queues with offsets belong."
            findings.append(Finding("wrong_value", where, sentence))
            rows.add(entry.key, (None, group, topic, None, None), findings, where)
        elif entry.value:
            _add_queues(rows, entry, content, group, topic, findings)
        else:
            rows.of_file += findings
    return rows


def _beside_others(key: object, times: Counter[object], where: str) -> Iterator[Finding]:
    if times[key] > 1:
        sentence = f"{where}: the key stands {times[key]} times: only the last of them will be loaded."
        yield Finding("stands_twice", where, sentence)
    if isinstance(key, str) and key.endswith(BROADCAST) and key.removesuffix(BROADCAST) in times:
        sentence = f"{where}: the group has offsets of clustering members for this topic, too."
        yield Finding("both_models", where, sentence)


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
        return None, None, [Finding("wrong_key", where, f"{where}: the key is no text of the form topic@group.")]
    if key and not key.isprintable():
        return None, None, [Finding("wrong_key", where, f"{where}: the key holds characters that no name has.")]
    topic, at, group = key.partition("@")
    group = group.removesuffix(BROADCAST)
    if not at and topic.startswith(RETRY_PREFIX):
        inferred = topic.removeprefix(RETRY_PREFIX) or None
        sentence = (
            f"{where}: the key names no group; {inferred} is inferred from the topic. No broker looks such a key up."
        )
        return inferred, topic, [Finding("key_without_group", where, sentence)]
    if not topic or not group:
        missing = "group" if topic else "topic"
        sentence = f"{where}: the key names no {missing}; it should be topic@group. No broker looks such a key up."
        return group or None, topic or None, [Finding(f"key_without_{missing}", where, sentence)]
    if "@" in group:
        sentence = f"{where}: the key has more than one '@': read as topic {topic} and group {group}."
        return group, topic, [Finding("odd_key", where, sentence)]
    return group, topic, []
