"""Bodies of offsets as columns, for hundreds of thousands of queues; unchanged parts are not parsed again."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import csv

from consumers.rocketmq.messages.stored import Pulled, PullOutcome, QueueEntries, QueueEntry, stored_messages
from consumers.rocketmq.wire.codes import RemoteProtocolError, RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command

from .config_bodies import TopicQueueStats
from .fastjson import loads, loads_plain
from .fields import Fields

# Answers to a pull (11), a consume queue look-up (321), offsets of a topic (202) and of a reset (222).

# Answers to a pull (11) and to a look into a consume queue (321).
# 5.4.0, PullMessageProcessor.composeResponseHeader.
PULL_OUTCOMES = {
    ResponseCode.SUCCESS: PullOutcome.FOUND,
    ResponseCode.PULL_NOT_FOUND: PullOutcome.NO_MESSAGE_YET,
    ResponseCode.PULL_RETRY_IMMEDIATELY: PullOutcome.RETRY,
    ResponseCode.PULL_OFFSET_MOVED: PullOutcome.MOVED,
}


def pulled(answer: Command) -> Pulled:
    fields = Fields(dict(answer.ext_fields), RequestCode.PULL_MESSAGE, ("extFields",))
    outcome = PULL_OUTCOMES[ResponseCode(answer.code)]
    return Pulled(
        outcome=outcome,
        messages=tuple(stored_messages(answer.body)) if outcome is PullOutcome.FOUND else (),
        next_offset=fields.number_text("nextBeginOffset"),
        min_offset=fields.optional_number_text("minOffset"),
        max_offset=fields.optional_number_text("maxOffset"),
    )


def queue_entries(body: bytes) -> QueueEntries:
    if not body:
        # The queue has no file for this index (5.4.0, AdminBrokerProcessor.queryConsumeQueue).
        return QueueEntries(entries=(), min_offset=None, max_offset=None)
    answer = Fields(loads_plain(body), RequestCode.QUERY_CONSUME_QUEUE)
    return QueueEntries(
        entries=tuple(_entry(fields) for fields in answer.items("queueData")),
        min_offset=answer.integer("minQueueIndex"),
        max_offset=answer.integer("maxQueueIndex"),
    )


def _entry(fields: Fields) -> QueueEntry:
    # With an extension of the consume queue the code is an address in it, below zero (5.4.0, ConsumeQueueExt).
    is_extended = fields.optional_text("extendDataJson") is not None or fields.optional_text("msg") is not None
    return QueueEntry(
        physical_offset=fields.integer("physicOffset"),
        size=fields.small("physicSize"),
        tags_code=None if is_extended else fields.integer("tagsCode"),
    )


# Bodies that give the offsets of one topic (202) and of a reset (222), queue by queue.
def topic_queue_stats(body: bytes) -> list[TopicQueueStats]:
    answer = Fields(loads(body), RequestCode.GET_TOPIC_STATS_INFO)
    return [
        TopicQueueStats(
            broker=queue.text("brokerName"),
            queue_id=queue.small("queueId"),
            min_offset=value.integer("minOffset"),
            max_offset=value.integer("maxOffset"),
            last_update_at_ms=value.optional_moment("lastUpdateTimestamp"),
        )
        for queue, value in answer.queues("offsetTable")
    ]


def reset_offsets(body: bytes, topic: str) -> dict[int, int]:
    """By queue id, all of `topic` and of one broker: the one that answers (5.4.0, ResetOffsetBody)."""
    answer = Fields(loads(body), RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)
    rows = list(answer.queue_integers("offsetTable"))
    if others := {queue.text("topic") for queue, _ in rows} - {topic}:
        raise answer.wrong("offsetTable", f"names the topic {min(others)}, and not only {topic}")
    if len({queue.text("brokerName") for queue, _ in rows}) > 1:
        raise answer.wrong("offsetTable", "names more than one broker")
    return {queue.small("queueId"): offset for queue, offset in rows}


# Bodies of 43 and of the bulk form of 208. A regular expression takes the table apart as brokers write it (5.4.0:
# fields in alphabetical order, no spaces). Its pieces count only if, put together again, they are the table to the
# byte. Any other body goes to the general parser, which accepts all that is well formed and refuses the rest.
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

# `topic@group`: split at the first @. The comma before it is part of the piece, so that nothing stands between pieces.
_GROUP = re.compile(rb',"([^"@\\{}\x00-\x1f]+)@([^"\\{}\x00-\x1f]+)":\{([0-9:,-]*)\}')

_QUEUE = re.compile(
    rb',\{"brokerName":"([^"\\{}\x00-\x1f]*)","queueId":(-?\d{1,9}),"topic":"([^"\\{}\x00-\x1f]*)"\}:'
    rb'\{"brokerOffset":(-?\d{1,18}),"consumerOffset":-?\d+,"lastTimestamp":-?\d+(?:,"pullOffset":-?\d+)?\}'
)


@dataclass(frozen=True)
class Pieces:
    """A table of consumer offsets taken apart, as bytes: for each key its topic, its group and its `0:10,1:11`."""

    topics: list[bytes]
    groups: list[bytes]
    inners: list[bytes]


def consumer_offsets_table(body: bytes) -> pa.Table:
    """The answer to GET_ALL_CONSUMER_OFFSET: one row a queue with a committed offset. Raises RemoteProtocolError."""
    pieces = consumer_offset_pieces(body)
    table = table_of_pieces(pieces) if pieces is not None else None
    return consumer_offsets_of_any_form(body) if table is None else table


def consumer_offset_pieces(body: bytes) -> Pieces | None:
    """None where the body is not written as brokers write it."""
    table = _table_bytes(body)
    pieces = _split(_GROUP, table) if table is not None else None
    return Pieces(*pieces) if pieces is not None else None


def table_of_pieces(pieces: Pieces) -> pa.Table | None:
    """None where a piece is not what it looks like, or a key comes twice."""
    counts = queue_counts(pieces.inners)
    numbers = queue_numbers(pieces.inners, sum(counts))
    topics, groups = _coded(pieces.topics), _coded(pieces.groups)
    keys = topics.indices.to_numpy().astype(np.int64) * (len(groups.dictionary) + 1) + groups.indices.to_numpy()
    if numbers is None or len(np.unique(keys)) < len(keys):
        return None
    return _consumer_offsets(topics, groups, counts, *numbers)


def queue_counts(inners: Iterable[bytes]) -> list[int]:
    return [inner.count(b":") for inner in inners]


def broker_offsets_table(body: bytes) -> pa.Table:
    """The answer to GET_CONSUME_STATS for a group without offsets: one row a queue. Raises RemoteProtocolError."""
    table = _table_bytes(body)
    pieces = _split(_QUEUE, table) if table is not None else None
    if pieces is None:
        return _broker_offsets_of_any_form(body)
    brokers, queue_ids, topics, offsets = pieces
    numbers = [pa.array(texts, pa.string()).cast(pa.int64()) for texts in (queue_ids, offsets)]
    return _broker_offsets(topics, brokers, *numbers)


def _split(pattern: re.Pattern[bytes], table: bytes) -> list[list[bytes]] | None:
    """What each group of the pattern holds, match by match; None where anything stands between two matches.

    One flat list: a tuple for each match would keep Python's garbage collector busy longer than the parsing takes.
    """
    if not table:
        return [[] for _ in range(pattern.groups)]
    parts = pattern.split(b"," + table)
    step = pattern.groups + 1
    return None if any(parts[::step]) else [parts[first::step] for first in range(1, step)]


def _table_bytes(body: bytes) -> bytes | None:
    """Returns the bytes between the braces of the offsetTable, if the table is last and everything before it is
    standard JSON."""
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


def queue_numbers(inners: Iterable[bytes], rows: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Queue ids and offsets of texts like `0:10,1:11`; None where they are not such pairs."""
    pairs = b",".join(filter(None, inners))
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
    topics: pa.DictionaryArray,
    groups: pa.DictionaryArray,
    counts: Sequence[int],
    queue_ids: np.ndarray,
    offsets: np.ndarray,
) -> pa.Table:
    # `topic@group@broadcast` is what broadcasting clients report (5.1.0, BroadcastOffsetManager).
    names = groups.dictionary.to_pylist()
    marked = np.array([name.endswith(_BROADCAST) for name in names], bool)
    plain = _coded([name.removesuffix(_BROADCAST) for name in names])
    marks, codes = groups.indices.to_numpy(), plain.indices.to_numpy()
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(np.repeat(codes[marks], counts)), plain.dictionary),
        pa.DictionaryArray.from_arrays(pa.array(np.repeat(topics.indices.to_numpy(), counts)), topics.dictionary),
        pa.array(queue_ids),
        pa.array(offsets),
        pa.array(np.repeat(marked[marks], counts)),
    ]
    return pa.table(columns, schema=CONSUMER_OFFSETS)


def _coded(values: Sequence[bytes | str]) -> pa.DictionaryArray:
    return pa.array(values, pa.string()).dictionary_encode()


def _broker_offsets(
    topics: Sequence[bytes | str], brokers: Sequence[bytes | str], queue_ids: pa.Array, offsets: pa.Array
) -> pa.Table:
    return pa.table([_coded(topics), _coded(brokers), queue_ids.cast(pa.int32()), offsets], schema=BROKER_OFFSETS)


def consumer_offsets_of_any_form(body: bytes) -> pa.Table:
    table = Fields(loads(body), RequestCode.GET_ALL_CONSUMER_OFFSET).inner("offsetTable")
    keys = [table.as_text(key) for key in table.names()]
    parts = [key.split("@", 1) for key in keys]
    if short := [key for key, part in zip(keys, parts, strict=True) if len(part) != 2]:
        raise Fields({}, RequestCode.GET_ALL_CONSUMER_OFFSET).wrong(f"offsetTable.{short[0]}", "names no group")
    queues = [table.numbered_integers(key) for key in keys]
    numbers = [pair for offsets in queues for pair in offsets.items()]
    queue_ids, offsets = np.array(numbers, np.int64).reshape(-1, 2).T
    topics, groups = (_coded([part[place] for part in parts]) for place in (0, 1))
    return _consumer_offsets(topics, groups, [len(found) for found in queues], queue_ids.astype(np.int32), offsets)


def _broker_offsets_of_any_form(body: bytes) -> pa.Table:
    rows = list(Fields(loads(body), RequestCode.GET_CONSUME_STATS).queues("offsetTable"))
    return _broker_offsets(
        [queue.text("topic") for queue, _ in rows],
        [queue.text("brokerName") for queue, _ in rows],
        pa.array([queue.small("queueId") for queue, _ in rows], pa.int64()),
        pa.array([value.integer("brokerOffset") for _, value in rows], pa.int64()),
    )


# Consumer offsets of one broker, body after body: what stands as it stood in the last body is not parsed again.
#
# Most groups of most readings stand still. The last body's pieces are kept, and nothing older: memory is bounded by
# it.
@dataclass(frozen=True)
class _Last:
    body: bytes
    pieces: Pieces
    table: pa.Table


class OffsetMemory:
    """Called with a body, gives the same as `consumer_offsets_table`.."""

    def __init__(self) -> None:
        self._last: _Last | None = None

    def __call__(self, body: bytes) -> pa.Table:
        last, self._last = self._last, None
        if last is not None and body == last.body:
            self._last = last
            return last.table
        pieces = consumer_offset_pieces(body)
        if pieces is None:
            return consumer_offsets_of_any_form(body)
        table = _brought_up(last, pieces) if last is not None else None
        if table is None:
            table = table_of_pieces(pieces)
        if table is None:
            return consumer_offsets_of_any_form(body)
        self._last = _Last(body, pieces, table)
        return table


def _brought_up(last: _Last, pieces: Pieces) -> pa.Table | None:
    """The last table with the offsets that differ; None where keys or their queues are not the same."""
    if (pieces.topics, pieces.groups) != (last.pieces.topics, last.pieces.groups):
        return None
    pairs = enumerate(zip(pieces.inners, last.pieces.inners, strict=True))
    changed = [place for place, (inner, before) in pairs if inner != before]
    counts = np.array(queue_counts(last.pieces.inners))
    rows = _rows_of(changed, counts)
    numbers = queue_numbers([pieces.inners[place] for place in changed], len(rows))
    if numbers is None or queue_counts(pieces.inners[place] for place in changed) != counts[changed].tolist():
        return None
    table = last.table.combine_chunks()
    queue_ids, offsets = table["queue_id"].to_numpy().copy(), table["consumer_offset"].to_numpy().copy()
    queue_ids[rows], offsets[rows] = numbers
    fresh = {"queue_id": pa.array(queue_ids), "consumer_offset": pa.array(offsets)}
    return pa.table([fresh.get(name, table[name]) for name in CONSUMER_OFFSETS.names], schema=CONSUMER_OFFSETS)


def _rows_of(places: Sequence[int], counts: np.ndarray) -> np.ndarray:
    """The rows of the table that stem from the pieces in these places."""
    chosen = np.zeros(len(counts), bool)
    chosen[list(places)] = True
    return np.flatnonzero(np.repeat(chosen, counts))
