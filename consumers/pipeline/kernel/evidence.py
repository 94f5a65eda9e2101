"""What is known of groups and owners, beside their queues: all that the rules ask beside the readings."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import readings_schema
from .columns import Columns, arrow, numbers, whole
from .keys import beside, matches
from .members import membership_evidence
from .names import GROUP, QUEUE
from .owners import Answers, group_ownership, queue_ownership
from .segments import Segments, seconds

KINDS = ["is_ghost", "is_paused", "is_away", "has_unlisted_members", "is_popping"]


@dataclass(frozen=True)
class Known:
    """What the poll's rows and the last judgement say, each with the schema that known.py or kinds.py gives it."""

    groups: pa.Table
    members: pa.Table
    retention: pa.Table
    still: pa.Table
    lost: pa.Table
    hands: pa.Table


def with_evidence(
    queues: pa.Table, membership: pa.Table, ownership: pa.Table, minutes: pa.Table, known: Known
) -> pa.Table:
    """`queues`: QUEUE and kind. `minutes`: windows of the trend, of the queues that need one."""
    found = with_members(queues, membership, known.groups)
    found = with_owners(found, ownership, known.members)
    found = beside(found, known.retention, ["cluster", "broker"])
    found = beside(beside(found, known.still, QUEUE), known.lost, QUEUE)
    found = beside(found, known.hands, QUEUE)
    return found.append_column("minutes", minute_lists(queues, minutes))


def with_members(queues: pa.Table, membership: pa.Table, groups: pa.Table) -> pa.Table:
    """`groups`: cluster, group, known_type and known_model from when they last had a member, and their kinds."""
    found = beside(beside(queues, membership_evidence(membership), GROUP), groups, GROUP)
    # A group without members has no type: the last known one holds.
    model = pc.coalesce(found["message_model"], found["known_model"])
    consume_type = pc.coalesce(found["consume_type"], found["known_type"])
    columns = Columns(found)
    # Members of a proxy move offsets though no broker lists them.
    empty = np.where(columns["has_unlisted_members"], np.nan, columns["empty_since_us"])
    found = found.drop_columns(["message_model", "known_model", "consume_type", "known_type", "empty_since_us", *KINDS])
    named = {
        "is_broadcasting": pc.fill_null(pc.equal(model, "BROADCASTING"), False),
        "is_pulling": pc.fill_null(pc.equal(consume_type, "CONSUME_ACTIVELY"), False),
        **{name: pa.array(columns[name]) for name in KINDS},
        "empty_since_us": whole(empty),
    }
    for name, column in named.items():
        found = found.append_column(name, column)
    return found


def with_owners(queues: pa.Table, ownership: pa.Table, present: pa.Table) -> pa.Table:
    answers = Answers.of(ownership)
    found = beside(queues, group_ownership(answers, present), GROUP)
    found = beside(found, queue_ownership(answers, present), QUEUE)
    columns = Columns(found)
    since = np.where(np.isnan(columns["held_us"]), columns["first_sample_us"], columns["held_us"])
    is_free = columns["owners_known"] & ~columns.is_known("owner")
    without = np.where(is_free, seconds(columns["sample_us"] - since), np.nan)
    return found.append_column("unowned_seconds", arrow(without))


def minute_lists(queues: pa.Table, windows: pa.Table) -> pa.ListArray:
    """Of each queue its windows, oldest first, with the fields of readings_schema.MINUTES."""
    queue = matches(windows, queues, QUEUE)
    start = numbers(windows["start"])
    order = np.lexsort((start, queue))
    order = order[queue[order] >= 0]
    rows = windows.combine_chunks().take(pa.array(order))
    fields = [whole(start[order])] + [rows[field.name].combine_chunks() for field in list(readings_schema.MINUTES)[1:]]
    starts = Segments.of_lengths(np.bincount(queue[order], minlength=queues.num_rows)).starts
    return pa.ListArray.from_arrays(
        pa.array(starts, pa.int32()), pa.StructArray.from_arrays(fields, fields=list(readings_schema.MINUTES))
    )
