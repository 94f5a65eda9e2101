"""Bodies of 43 and of the bulk form of 208 as columns, for hundreds of thousands of queues.

A regular expression takes the table apart as brokers write it (5.4.0: fields in alphabetical order, no spaces). Its
pieces count only if, put together again, they are the table to the byte. Any other body goes to the general parser,
which accepts all that is well formed and refuses the rest.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from pyarrow import csv

from consumers.rocketmq.codes import RequestCode
from consumers.rocketmq.errors import RemoteProtocolError
from consumers.rocketmq.fastjson import loads, loads_plain
from consumers.rocketmq.fields import Fields

CONSUMER_OFFSETS = pa.schema(
    [
        ("group", pa.dictionary(pa.int32(), pa.string())),
        ("topic", pa.dictionary(pa.int32(), pa.string())),
        ("queue_id", pa.int32()),
        ("consumer_offset", pa.int64()),
        ("broadcast", pa.bool_()),
    ]
)
BROKER_OFFSETS = pa.schema(
    [
        ("topic", pa.dictionary(pa.int32(), pa.string())),
        ("broker", pa.dictionary(pa.int32(), pa.string())),
        ("queue_id", pa.int32()),
        ("broker_offset", pa.int64()),
    ]
)
_BROADCAST = "@broadcast"
_TABLE = b'"offsetTable":{'
_GROUP = re.compile(rb'"([^"\\{}\x00-\x1f]+)":\{([0-9:,-]*)\}')
_QUEUE = re.compile(
    rb'(\{"brokerName":"([^"\\{}\x00-\x1f]*)","queueId":(-?\d{1,9}),"topic":"([^"\\{}\x00-\x1f]*)"\}:'
    rb'\{"brokerOffset":(-?\d{1,18}),"consumerOffset":-?\d+,"lastTimestamp":-?\d+(?:,"pullOffset":-?\d+)?\})'
)


def consumer_offsets_table(body: bytes) -> pa.Table:
    """The answer to GET_ALL_CONSUMER_OFFSET: one row a queue with a committed offset. Raises RemoteProtocolError."""
    table = _table_bytes(body)
    pieces = _GROUP.findall(table) if table is not None else []
    if table is not None and b",".join(b'"%s":{%s}' % piece for piece in pieces) == table:
        keys, inners = [key.decode() for key, _ in pieces], [inner for _, inner in pieces]
        counts = [inner.count(b":") for inner in inners]
        numbers = _numbers(b",".join(filter(None, inners)), sum(counts))
        if numbers is not None and len(set(keys)) == len(keys):
            return _consumer_offsets(keys, counts, *numbers)
    return _consumer_offsets_of_any_form(body)


def broker_offsets_table(body: bytes) -> pa.Table:
    """The answer to GET_CONSUME_STATS for a group without offsets: one row a queue. Raises RemoteProtocolError."""
    table = _table_bytes(body)
    pieces = _QUEUE.findall(table) if table is not None else []
    if table is not None and b",".join(piece for piece, *_ in pieces) == table:
        return _broker_offsets(
            [(topic.decode(), broker.decode(), int(queue), int(offset)) for _, broker, queue, topic, offset in pieces]
        )
    return _broker_offsets_of_any_form(body)


def _table_bytes(body: bytes) -> bytes | None:
    """What stands between the braces of the offsetTable, if that comes last and all before it is standard JSON."""
    start = body.find(_TABLE)
    if start < 0 or not body.endswith(b"}}"):
        return None
    table = body[start + len(_TABLE) : -2]
    try:
        table.decode()
        head = loads_plain(body[:start] + _TABLE + b"}}")
    except (RemoteProtocolError, UnicodeDecodeError):
        return None
    return table if isinstance(head, dict) and head.get("offsetTable") == {} else None


def _numbers(pairs: bytes, rows: int) -> tuple[np.ndarray, np.ndarray] | None:
    """`0:10,1:11` as two arrays; None where it is not such pairs."""
    if rows == 0:
        return None if pairs else (np.empty(0, np.int32), np.empty(0, np.int64))
    try:
        table = csv.read_csv(
            pa.BufferReader(pairs.replace(b",", b"\n")),
            read_options=csv.ReadOptions(column_names=["queue_id", "offset"]),
            parse_options=csv.ParseOptions(delimiter=":", quote_char=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types={"queue_id": pa.int32(), "offset": pa.int64()}, null_values=[]
            ),
        )
    except pa.ArrowInvalid:
        return None
    return (table["queue_id"].to_numpy(), table["offset"].to_numpy()) if table.num_rows == rows else None


def _consumer_offsets(
    keys: Sequence[str], counts: Sequence[int], queue_ids: np.ndarray, offsets: np.ndarray
) -> pa.Table:
    # `topic@group`, and `topic@group@broadcast` for what broadcasting clients report (5.1.0, BroadcastOffsetManager).
    parts = [key.split("@", 1) for key in keys]
    if short := [key for key, part in zip(keys, parts, strict=True) if len(part) != 2]:
        raise Fields({}, RequestCode.GET_ALL_CONSUMER_OFFSET).wrong(f"offsetTable.{short[0]}", "names no group")
    broadcast = np.array([part[1].endswith(_BROADCAST) for part in parts], bool)
    columns = [
        _repeated([part[1].removesuffix(_BROADCAST) for part in parts], counts),
        _repeated([part[0] for part in parts], counts),
        pa.array(queue_ids),
        pa.array(offsets),
        pa.array(np.repeat(broadcast, counts)),
    ]
    return pa.table(columns, schema=CONSUMER_OFFSETS)


def _repeated(values: Sequence[str], counts: Sequence[int] | None = None) -> pa.DictionaryArray:
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int32)
    indices = codes if counts is None else np.repeat(codes, counts)
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(list(numbers), pa.string()))


def _broker_offsets(rows: Iterable[tuple[str, str, int, int]]) -> pa.Table:
    topics, brokers, queue_ids, offsets = tuple(zip(*rows, strict=True)) or ((), (), (), ())
    columns = [
        _repeated(topics),
        _repeated(brokers),
        pa.array(queue_ids, pa.int32()),
        pa.array(offsets, pa.int64()),
    ]
    return pa.table(columns, schema=BROKER_OFFSETS)


def _consumer_offsets_of_any_form(body: bytes) -> pa.Table:
    table = Fields(loads(body), RequestCode.GET_ALL_CONSUMER_OFFSET).inner("offsetTable")
    keys = [table.as_text(key) for key in table.names()]
    queues = [table.numbered_integers(key) for key in keys]
    numbers = [pair for offsets in queues for pair in offsets.items()]
    queue_ids, offsets = np.array(numbers, np.int64).reshape(-1, 2).T
    return _consumer_offsets(keys, [len(offsets) for offsets in queues], queue_ids.astype(np.int32), offsets)


def _broker_offsets_of_any_form(body: bytes) -> pa.Table:
    answer = Fields(loads(body), RequestCode.GET_CONSUME_STATS)
    return _broker_offsets(
        [
            (queue.text("topic"), queue.text("brokerName"), queue.small("queueId"), value.integer("brokerOffset"))
            for queue, value in answer.queues("offsetTable")
        ]
    )
