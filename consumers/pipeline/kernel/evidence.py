"""Columns about groups and owners for the rules, in addition to the readings of queues."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import (
    GROUP,
    QUEUE,
    Columns,
    Texts,
    arrow,
    beside,
    first_rows,
    key_numbers,
    matches,
    numbers,
    shared_numbers,
    whole,
)
from .segments import Groups, Segments, at_rows, seconds

# The lists that a queue's row carries into the kernel, as Spark makes them.

TIMES_AND_OFFSETS = ("at_us", "consumer_offset", "broker_offset", "min_offset", "pull_offset", "first_us")
READINGS = pa.struct([*((name, pa.int64()) for name in TIMES_AND_OFFSETS), ("reason", pa.string())])
LAGS = pa.struct(
    [("at_us", pa.int64()), ("seconds", pa.float64()), ("kind", pa.string()), ("error_seconds", pa.float64())]
)
HANDS = pa.struct([("from_us", pa.int64()), ("to_us", pa.int64())])
MINUTES = pa.struct(
    [
        ("start_us", pa.int64()),
        ("time_lag_seconds", pa.float64()),
        ("time_lag_kind", pa.string()),
        ("lag_messages", pa.int64()),
        ("consume_rate", pa.float64()),
        ("produce_rate", pa.float64()),
    ]
)


# What the members' own running info proves: who holds a queue, since when nobody does, what its owner does.
# A member is asked in turn, so each one's newest answer counts, and only members that are still listed.

CLIENT = [*GROUP, "client_id"]
OWNER_COLUMNS = [
    "cached_min",
    "cached_max",
    "cached_count",
    "cached_mib",
    "orderly",
    "last_pull_at",
    "last_consume_at",
    "last_lock_at",
]


@dataclass(frozen=True)
class Answers:
    """`client`: of each row the number of its client. `is_newest`: it is of that client's newest answer."""

    columns: Columns
    client: np.ndarray
    is_newest: np.ndarray

    @classmethod
    def of(cls, ownership: pa.Table) -> "Answers":
        columns, client = Columns(ownership), key_numbers(ownership, CLIENT)
        groups = Groups(client, int(client.max(initial=-1)) + 1)
        at = columns["taken_at"]
        return cls(columns, client, at == groups.max(at)[client])


def group_ownership(answers: Answers, present: pa.Table) -> pa.Table:
    """cluster, group, owners_known, owners_error, first_sample_us, sample_us.

    `present`: cluster, group, client_id of the listed members. `owners_known`: every one of them has answered.
    """
    columns, ownership = answers.columns, answers.columns.table
    clients = Groups(answers.client, int(answers.client.max(initial=-1)) + 1)
    error = Texts.of(ownership["error"]).greatest(answers.client, answers.is_newest, clients.count)
    newest_at = clients.max(columns["taken_at"])
    first = first_rows(answers.client)
    place = matches(present, ownership.select(CLIENT).take(pa.array(first)), CLIENT)
    numbers, theirs = shared_numbers([present, ownership], GROUP)
    groups = Groups(numbers, int(numbers.max(initial=-1)) + 1)
    at, why = at_rows(newest_at, place), error.at(place)
    asked = theirs < groups.count
    begins = Groups(theirs[asked], groups.count).min(columns["taken_at"][asked])
    found = present.select(GROUP).combine_chunks().take(pa.array(first_rows(numbers)))
    named = {
        "owners_known": pa.array(~groups.any(np.isnan(at) | why.is_known)),
        "owners_error": why.greatest(numbers, np.ones(len(numbers), bool), groups.count).arrow(),
        "first_sample_us": whole(begins),
        # A queue is known to have no owner only from when the last of them answered.
        "sample_us": whole(groups.max(at)),
    }
    for name, column in named.items():
        found = found.append_column(name, column)
    return found


def queue_ownership(answers: Answers, present: pa.Table) -> pa.Table:
    """Returns the queue columns, owner, owners, held_us, owner_changed_us, in_flight_seen, and what the owner reports
    of the queue. `held_us`: when any member was last seen to hold the queue. `owner` is null where none of the listed
    members names the queue in its newest answer."""
    columns, table = answers.columns, answers.columns.table
    is_held = columns.is_known("topic") & ~columns["dropped"]
    is_listed = matches(table, _distinct(present), CLIENT) >= 0
    held = np.flatnonzero(is_held)
    columns, client = columns.take(held), answers.client[held]
    is_current = (answers.is_newest & is_listed)[held]
    at = columns["taken_at"]
    numbers = key_numbers(columns.table, QUEUE)
    queues = Groups(numbers, int(numbers.max(initial=-1)) + 1)
    latest = queues.last(at, Texts.of(columns.table["client_id"]).ranks(), chosen=is_current)
    owner = np.where(latest >= 0, client[np.maximum(latest, 0)] if len(client) else -1, -1)
    is_of_another = (latest >= 0)[numbers] & (client != owner[numbers])
    last_of_another = queues.max(at, is_of_another)
    own_again = at > last_of_another[numbers]
    pairs = key_numbers(pa.table({"queue": pa.array(numbers), "client": pa.array(client)}), ["queue", "client"])
    of_pair = np.zeros(len(pairs), bool)
    of_pair[_firsts_of(pairs, is_current)] = True
    found = columns.table.select(QUEUE).take(pa.array(first_rows(numbers)))
    reported = columns.table.take(pa.array(latest, mask=latest < 0))
    named = {
        "owner": reported["client_id"],
        "owners": _counted(queues.count_if(of_pair)),
        "held_us": whole(queues.max(at)),
        "in_flight_seen": whole(queues.max(columns["cached_max"] + 1 - columns["commit_offset"])),
        "owner_changed_us": whole(queues.min(at, own_again)),
        **{name: reported[name] for name in OWNER_COLUMNS},
    }
    for name, column in named.items():
        found = found.append_column(name, column)
    return found


def _distinct(present: pa.Table) -> pa.Table:
    return present.select(CLIENT).combine_chunks().take(pa.array(first_rows(key_numbers(present, CLIENT))))


def _firsts_of(numbers: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The first chosen row of each number."""
    rows = np.flatnonzero(chosen)
    return rows[np.unique(numbers[rows], return_index=True)[1]]


def _counted(counts: np.ndarray) -> pa.Array:
    """None where nobody holds it."""
    return pa.array(counts, mask=counts == 0)


# What the answers to "who is in the group?" prove: how many members, and for how long it had none.


def membership_evidence(membership: pa.Table) -> pa.Table:
    """cluster, group, members, without_members_seconds, empty_since_us, consume_type, message_model.

    `members` is that of the newest full answer. `without_members_seconds` lies between the first and the last of at
    least two full answers in a row without any member, `empty_since_us` is the first of them; null where the newest
    full answer has one.
    """
    columns, numbers = Columns(membership), key_numbers(membership, GROUP)
    groups = Groups(numbers, int(numbers.max(initial=-1)) + 1)
    at, members = columns["taken_at"], columns["members"]
    is_full = columns["complete"] & ~np.isnan(members)
    last_peopled = groups.max(at, is_full & (members > 0))
    empty = is_full & ~(at <= last_peopled[numbers])
    first_empty = groups.min(at, empty)
    without = np.where(groups.count_if(empty) > 1, seconds(groups.max(at, empty) - first_empty), np.nan)
    found = columns.table.select(GROUP).take(pa.array(first_rows(numbers)))
    named = {
        "members": whole(at_rows(members, groups.last(at, members, chosen=is_full))),
        "without_members_seconds": arrow(without),
        "empty_since_us": whole(first_empty),
    }
    for name in ("consume_type", "message_model"):
        texts = Texts.of(columns.table[name])
        named[name] = texts.at(groups.last(at, chosen=texts.is_known)).arrow()
    for name, column in named.items():
        found = found.append_column(name, column)
    return found


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
    queues: pa.Table, membership: pa.Table, ownership: pa.Table, minutes: pa.ListArray, known: Known
) -> pa.Table:
    """`queues`: QUEUE and kind. `minutes`: of each its windows of the trend, as minute_lists() gives them."""
    found = with_members(queues, membership, known.groups)
    found = with_owners(found, ownership, known.members)
    found = beside(found, known.retention, ["cluster", "broker"])
    found = beside(beside(found, known.still, QUEUE), known.lost, QUEUE)
    found = beside(found, known.hands, QUEUE)
    return found.append_column("minutes", minutes)


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
    owners = present.rename_columns([{"client_id": "owner"}.get(name, name) for name in present.column_names])
    found = beside(found, owners, [*GROUP, "owner"])
    columns = Columns(found)
    since = np.where(np.isnan(columns["held_us"]), columns["first_sample_us"], columns["held_us"])
    is_free = columns["owners_known"] & ~columns.is_known("owner")
    without = np.where(is_free, seconds(columns["sample_us"] - since), np.nan)
    return found.append_column("unowned_seconds", arrow(without))


def minute_lists(queues: pa.Table, windows: pa.Table, chosen: np.ndarray) -> pa.ListArray:
    """Of each of the chosen queues its windows, oldest first, with the fields of MINUTES; of others none."""
    queue = matches(windows, queues, QUEUE)
    wanted = np.flatnonzero(np.append(chosen, False)[queue])
    start = numbers(windows["start"])
    order = wanted[np.lexsort((start[wanted], queue[wanted]))]
    rows = windows.select([field.name for field in list(MINUTES)[1:]]).combine_chunks().take(pa.array(order))
    fields = [whole(start[order]), *(rows[field.name].combine_chunks().cast(field.type) for field in list(MINUTES)[1:])]
    starts = Segments.of_lengths(np.bincount(queue[order], minlength=queues.num_rows)).starts
    return pa.ListArray.from_arrays(
        pa.array(starts, pa.int32()), pa.StructArray.from_arrays(fields, fields=list(MINUTES))
    )
