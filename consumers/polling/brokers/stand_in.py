"""What a slave says in the place of its master, without what is older than what the master had said.

A slave takes its master's consumer offsets over once a minute (RocketMQ 5.4.0, BrokerController: lastSyncTimeMs): what
it says may look as if a group had gone back.
"""

import pyarrow as pa
import pyarrow.compute as pc

from consumers.polling.reading import NOT_CAUGHT_UP

KEYS = ["group", "topic", "queue_id"]
OFFSETS = ["consumer_offset", "broker_offset"]


def without_older(rows: pa.Table, before: pa.Table) -> pa.Table:
    """`rows` in their order; a queue of which an offset lies below that of `before` is unknown, with the reason."""
    known = _plain(before.select([*KEYS, *OFFSETS])).rename_columns([*KEYS, "consumer_before", "broker_before"])
    numbered = _plain(rows.select([*KEYS, *OFFSETS])).append_column("row", pa.array(range(rows.num_rows), pa.int64()))
    both = numbered.join(known, KEYS).sort_by("row")
    behind = pc.or_(
        pc.fill_null(pc.less(both["consumer_offset"], both["consumer_before"]), False),
        pc.fill_null(pc.less(both["broker_offset"], both["broker_before"]), False),
    )
    for name in OFFSETS:
        rows = _replaced(rows, name, pc.if_else(behind, pa.scalar(None, pa.int64()), rows[name]))
    reasons = pc.if_else(behind, NOT_CAUGHT_UP, rows["unknown_reason"].cast(pa.string()))
    encoded = pa.types.is_dictionary(rows["unknown_reason"].type)
    return _replaced(rows, "unknown_reason", reasons.dictionary_encode() if encoded else reasons)


def _plain(table: pa.Table) -> pa.Table:
    """Texts of two readings are encoded each in its own way."""
    for name in ("group", "topic"):
        table = _replaced(table, name, table[name].cast(pa.string()))
    return table.combine_chunks()


def _replaced(table: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, column)
