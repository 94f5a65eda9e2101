"""The columns of every table of the lake, declared once. Times are UTC microseconds.

Null means not known; why it is not known stands in `unknown_reason` where the table has one. A file of one
reading says of the names in its rows whether they are those of another: whoever reads many of them reads the names of
one, and of the others what differs.
"""

import hashlib
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from consumers.stores.files.stored_file import STORED

from .encoded import encoded, indices

TIME = pa.timestamp("us", tz="UTC")
TEXT = pa.string()

READINGS = pa.schema(
    [
        # One row per queue of a group that a reading saw; queues of a broker that was not read have no row.
        ("cluster", TEXT),
        ("taken_at", TIME),
        ("group", TEXT),
        ("topic", TEXT),
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("kind", TEXT),  # normal, retry, dlq, system: of the topic, as this group sees it
        ("consumer_offset", pa.int64()),  # null with the reason "never committed", or not read
        ("broker_offset", pa.int64()),
        ("min_offset", pa.int64()),
        ("pull_offset", pa.int64()),  # null where it was not sampled
        ("first_stored_at", TIME),  # of the first unconsumed message, by the broker; null where it was not asked
        ("unknown_reason", TEXT),  # why the lag of this queue is not known; null where it is
        ("slave_offset", pa.int64()),  # of a slave in its master's place, where its master had a newer one
    ]
)

MEMBERSHIP = pa.schema(
    [
        # One row per group and reading in which its members were asked for.
        ("cluster", TEXT),
        ("taken_at", TIME),
        ("group", TEXT),
        ("complete", pa.bool_()),  # every broker of the group answered
        ("members", pa.int32()),  # null unless complete
        ("consume_type", TEXT),
        ("message_model", TEXT),
        ("sub_version", TIME),  # the newest that a broker told: by the members' clocks, a change of theirs
    ]
)

OWNERSHIP = pa.schema(
    [
        # One row per queue that a client was seen to hold; a client that holds none has one row without a queue;
        # a client that did not answer has one row with `error`.
        ("cluster", TEXT),
        ("taken_at", TIME),
        ("group", TEXT),
        ("client_id", TEXT),
        ("error", TEXT),
        ("topic", TEXT),
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("commit_offset", pa.int64()),
        ("cached_min", pa.int64()),
        ("cached_max", pa.int64()),
        ("cached_count", pa.int64()),
        ("cached_mib", pa.int64()),  # whole ones
        ("locked", pa.bool_()),
        ("dropped", pa.bool_()),
        ("orderly", pa.bool_()),
        ("last_pull_at", TIME),
        ("last_consume_at", TIME),
        ("last_lock_at", TIME),
        # Of the client, the same in each of its rows; null in that of a client that did not answer.
        ("started_at", TIME),
        ("strategy", TEXT),
        ("subscription", TEXT),  # "topic expression_type expression" a line, in their order, without the retry topic
        ("sub_version", TIME),
    ]
)

MEMBER_RATES = pa.schema(
    [
        # One row per client that answered and topic that it reports; a client that reports none has one row without a
        # topic, and so has one that did not answer, with `error`.
        ("cluster", TEXT),
        ("taken_at", TIME),
        ("group", TEXT),
        ("client_id", TEXT),
        ("error", TEXT),
        ("topic", TEXT),
        # As the client averages them over its last minute; times in milliseconds.
        ("consume_ok_tps", pa.float64()),
        ("consume_failed_tps", pa.float64()),
        ("consume_rt", pa.float64()),
        ("pull_tps", pa.float64()),
        ("pull_rt", pa.float64()),
        # Of its queues of the topic; null where it pops. Each queue's MiB are whole ones.
        ("cached_count", pa.int64()),
        ("cached_mib", pa.int64()),
    ]
)

WINDOWS = pa.schema(
    [
        # One row per queue of a group and window. Offsets and lag are those of the window's last reading.
        ("cluster", TEXT),
        ("start", TIME),
        ("step_seconds", pa.int32()),
        ("group", TEXT),
        ("topic", TEXT),
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("kind", TEXT),
        ("lag_messages", pa.int64()),
        ("time_lag_seconds", pa.float64()),
        ("time_lag_kind", TEXT),
        ("consume_rate", pa.float64()),  # messages per second; null where an offset went back or nothing precedes
        ("produce_rate", pa.float64()),
        ("readings", pa.int32()),
        ("unknown_reason", TEXT),
        ("consumed", pa.int64()),  # how far the offset moved since the last reading before the window
        ("produced", pa.int64()),
        ("volume_unknown", TEXT),  # why one of those two is null; null in windows from before they were recorded
    ]
)

# In place of a knot's broker offset: the topic had been gone. What follows is another topic with its name.
NO_TOPIC = -1
KNOTS = pa.schema(
    [
        # When a queue's broker offset was seen: what time lag is read from. Flat runs keep both ends.
        ("cluster", TEXT),
        ("topic", TEXT),
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("broker_offset", pa.int64()),
        ("at", TIME),
    ]
)

STORED_OFFSETS = pa.schema(
    [
        # One row per offset in a file: kind is broker_file, delay_file (no group) or consumer_file (has a client_id).
        # Where a file names something wrongly, what it should have named is null, and `finding` says so.
        ("cluster", TEXT),
        ("taken_at", TIME),
        *((field.name, field.type) for field in STORED),
    ]
)

DEAD_LETTERS = pa.schema(
    [
        # One row per queue of a dead-letter topic and reading of its broker; nobody needs to consume it.
        ("cluster", TEXT),
        ("taken_at", TIME),
        ("topic", TEXT),
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("broker_offset", pa.int64()),
        ("min_offset", pa.int64()),
    ]
)

TABLES = {
    "readings": READINGS,
    "membership": MEMBERSHIP,
    "ownership": OWNERSHIP,
    "member_rates": MEMBER_RATES,
    "stored_offsets": STORED_OFFSETS,
    "dead_letters": DEAD_LETTERS,
    "windows_60": WINDOWS,
    "windows_600": WINDOWS,
    "windows_3600": WINDOWS,
    "windows_86400": WINDOWS,
    "knots": KNOTS,
}


NAMES = ("cluster", "group", "topic", "broker", "queue_id", "kind")
NOTE = "consumerscope.names"


def names_note(rows: pa.Table) -> dict[str, str]:
    """As Parquet's metadata: the same text for the same names in the same order, however they are encoded."""
    digest = hashlib.blake2b(digest_size=16)
    for name in NAMES:
        column = encoded(rows[name])
        numbers = indices(column)
        # Numbers in the order of first rows, whatever numbers the column has.
        seen = np.asarray(pc.unique(pa.array(numbers)))
        places = np.empty(len(column.dictionary) + 1, np.int32)
        places[seen] = np.arange(len(seen), dtype=np.int32)
        values = column.dictionary.take(pa.array(seen, mask=seen < 0)).to_pylist()
        digest.update(places[numbers].tobytes() + json.dumps(values).encode())
    return {NOTE: digest.hexdigest()}


def noted_names(metadata: pq.FileMetaData) -> str | None:
    """None where the file does not tell: it has rows of several readings."""
    note = (metadata.metadata or {}).get(NOTE.encode())
    return None if note is None else note.decode()
