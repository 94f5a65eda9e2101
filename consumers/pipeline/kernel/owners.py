"""What the members' own running info proves: who holds a queue, since when nobody does, what its owner does.

A member is asked in turn, so each one's newest answer counts, and only members that are still listed.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .columns import Columns, whole
from .keys import first_rows, key_numbers, matches, shared_numbers
from .names import GROUP, QUEUE
from .segments import at_rows
from .sums import Groups
from .texts import Texts

CLIENT = [*GROUP, "client_id"]
OWNER_COLUMNS = [
    "cached_min",
    "cached_max",
    "cached_count",
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
    at, said = at_rows(newest_at, place), error.at(place)
    asked = theirs < groups.count
    begins = Groups(theirs[asked], groups.count).min(columns["taken_at"][asked])
    found = present.select(GROUP).combine_chunks().take(pa.array(first_rows(numbers)))
    named = {
        "owners_known": pa.array(~groups.any(np.isnan(at) | said.is_known)),
        "owners_error": said.greatest(numbers, np.ones(len(numbers), bool), groups.count).arrow(),
        "first_sample_us": whole(begins),
        # A queue is known to have no owner only from when the last of them answered.
        "sample_us": whole(groups.max(at)),
    }
    for name, column in named.items():
        found = found.append_column(name, column)
    return found


def queue_ownership(answers: Answers, present: pa.Table) -> pa.Table:
    """The queue columns, owner, owners, held_us, owner_changed_us, in_flight_seen, and what the owner says of it.

    `held_us`: when anyone was last seen to hold it. `owner` null: none of the listed members' newest answers names it.
    """
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
    said = columns.table.take(pa.array(latest, mask=latest < 0))
    named = {
        "owner": said["client_id"],
        "owners": _counted(queues.count_if(of_pair)),
        "held_us": whole(queues.max(at)),
        "in_flight_seen": whole(queues.max(columns["cached_max"] + 1 - columns["commit_offset"])),
        "owner_changed_us": whole(queues.min(at, own_again)),
        **{name: said[name] for name in OWNER_COLUMNS},
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
