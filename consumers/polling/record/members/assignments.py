"""Which client held which queue, from when to when, as far as polling can tell, and what it said of the queue last.

An interval ends when its client spoke and no longer holds the queue, when the client started anew or was not heard for
so long that it may have lost the queue meanwhile, or when a whole list of members lacks it.
A client that did not answer keeps its intervals: silence is not a loss.

The oldest message that it holds is the same one while its offset is, within an interval: `head_since` is the reading
that saw it first, null while nothing is held.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from consumers.models import Assignment, Queue
from consumers.polling.brokers.rows import kind_in_group
from consumers.polling.reading import MembersReading
from consumers.polling.record.tables.ids import BATCH, EntityIds
from consumers.polling.record.tables.keyed_rows import rewrite
from consumers.polling.record.tables.stamps import stamp

from .client_rows import ClientKey
from .let_go import LetGo
from .spoken import Spoken

# What a client says of a queue: the same names in its answer and in the row, where `last_seen` says of when it is.
MEMORY = (
    "commit_offset",
    "cached_min",
    "cached_max",
    "cached_count",
    "locked",
    "dropped",
    "last_pull_at",
    "last_consume_at",
    "last_lock_at",
)
HEAD = MEMORY.index("cached_min")
KEY = ("group_id", "client_id", "queue_id")

Holding = tuple[int, str, int]  # group id, client id, queue id
Memory = tuple[Any, ...]  # the values of MEMORY


@dataclass(frozen=True)
class _Known:
    pk: int
    head_since: datetime | None
    memory: Memory

    def head_since_with(self, memory: Memory, now: datetime) -> datetime | None:
        is_same = memory[HEAD] is not None and memory[HEAD] == self.memory[HEAD]
        return self.head_since if is_same and self.head_since is not None else _head_since(memory, now)


def record_assignments(
    ids: EntityIds,
    groups: Mapping[str, int],
    reading: MembersReading,
    spoken: Spoken,
    spoke_before: Collection[ClientKey],
) -> set[int]:
    """`groups`: the ids of those of which anything was learned.

    Returns those in which a client of `spoke_before` said that it got or lost a queue; retry topics do not count.
    """
    now = reading.taken_at
    known = _known(groups.values())
    held = _held(ids, groups, reading)
    let_go = LetGo.of(groups, reading, spoken.answered)
    lost = {holding for holding in known.keys() - held.keys() if let_go.says(holding[:2])}
    broken = {holding for holding in known.keys() - lost if holding[:2] in spoken.interrupted}
    going_on = held.keys() & (known.keys() - broken)
    stamp(Assignment.objects.all(), [known[holding].pk for holding in lost | broken], gone_by=now)
    begun = [_row(holding, held[holding], now) for holding in sorted(held.keys() - going_on)]
    Assignment.objects.bulk_create(begun, batch_size=BATCH)
    heads = {holding: known[holding].head_since_with(held[holding], now) for holding in going_on}
    moved = [
        holding
        for holding in going_on
        if held[holding] != known[holding].memory or heads[holding] != known[holding].head_since
    ]
    _rewrite([known[one].pk for one in moved], [held[one] for one in moved], [heads[one] for one in moved], now)
    stamp(Assignment.objects.all(), [known[holding].pk for holding in going_on.difference(moved)], last_seen=now)
    differing = (held.keys() - known.keys()) | {holding for holding in lost if holding[:2] in spoken.answered}
    return _outside_retries({holding for holding in differing if holding[:2] in spoke_before}, groups)


def _known(groups: Collection[int]) -> dict[Holding, _Known]:
    present = Assignment.objects.filter(group__in=groups, gone_by=None)
    rows = present.values_list(*KEY, "pk", "head_since", *MEMORY)
    return {row[:3]: _Known(row[3], row[4], row[5:]) for row in rows}


def _held(ids: EntityIds, groups: Mapping[str, int], reading: MembersReading) -> dict[Holding, Memory]:
    said = attrgetter(*MEMORY)
    held: dict[Holding, Memory] = {}
    for client in reading.clients:
        if client.group not in groups:
            continue
        for queue in client.queues:
            pk = ids.queues.get((queue.topic, queue.broker, queue.queue_id))
            if pk is not None and not queue.dropped:
                held[groups[client.group], client.client_id, pk] = said(queue)
    return held


def _outside_retries(holdings: Collection[Holding], groups: Mapping[str, int]) -> set[int]:
    """The groups of those whose queue is not of a retry topic of the group's own."""
    topics = dict(Queue.objects.filter(pk__in={queue for *_, queue in holdings}).values_list("pk", "topic__name"))
    names = {pk: name for name, pk in groups.items()}
    return {group for group, _, queue in holdings if kind_in_group(names[group], topics[queue]) != "retry"}


def _row(holding: Holding, memory: Memory, now: datetime) -> Assignment:
    values = dict(zip(KEY, holding, strict=True)) | dict(zip(MEMORY, memory, strict=True))
    return Assignment(seen_since=now, last_seen=now, head_since=_head_since(memory, now), **values)


def _head_since(memory: Memory, now: datetime) -> datetime | None:
    return now if memory[HEAD] is not None else None


def _rewrite(keys: list[int], memories: list[Memory], heads: list[datetime | None], now: datetime) -> None:
    if keys:
        columns: dict[str, Sequence[Any]] = dict(zip(MEMORY, zip(*memories, strict=True), strict=True))
        rewrite(Assignment, keys, columns | {"head_since": heads, "last_seen": [now] * len(keys)})
