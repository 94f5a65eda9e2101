"""Which client held which queue, from when to when, as far as polling can tell, and what it said of the queue last.

An interval ends when its client spoke and no longer holds the queue, or when a whole list of members lacks it.
A client that did not answer keeps its intervals: silence is not a loss.
"""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from consumers.models import Assignment
from consumers.polling.reading import MembersReading

from .ids import BATCH, EntityIds
from .stamps import stamp

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
KEY = ("group_id", "client_id", "queue_id")

Holding = tuple[int, str, int]  # group id, client id, queue id
Memory = tuple[Any, ...]  # the values of MEMORY


@dataclass(frozen=True)
class _Known:
    pk: int
    memory: Memory


def record_assignments(ids: EntityIds, reading: MembersReading) -> None:
    now = reading.taken_at
    known = _known(ids, reading)
    held = _held(ids, reading)
    Assignment.objects.bulk_create(
        [_row(holding, held[holding], now) for holding in sorted(held.keys() - known.keys())], batch_size=BATCH
    )
    still_held = held.keys() & known.keys()
    moved = {holding for holding in still_held if held[holding] != known[holding].memory}
    _rewrite([_row(holding, held[holding], now, known[holding].pk) for holding in moved])
    stamp(Assignment.objects.all(), [known[holding].pk for holding in still_held - moved], last_seen=now)
    let_go = _LetGo.of(ids, reading)
    gone = [known[holding].pk for holding in known.keys() - held.keys() if let_go.says(holding)]
    stamp(Assignment.objects.all(), gone, gone_by=now)


def _known(ids: EntityIds, reading: MembersReading) -> dict[Holding, _Known]:
    """Those of the groups that the reading is about: nothing is learned of the others."""
    names = {answer.group for answer in reading.groups} | {client.group for client in reading.clients}
    groups = [ids.groups[name] for name in names if name in ids.groups]
    present = Assignment.objects.filter(group__in=groups, gone_by=None)
    rows = present.values_list(*KEY, "pk", *MEMORY)
    return {row[:3]: _Known(row[3], row[4:]) for row in rows}


def _held(ids: EntityIds, reading: MembersReading) -> dict[Holding, Memory]:
    said = attrgetter(*MEMORY)
    held: dict[Holding, Memory] = {}
    for client in reading.clients:
        for queue in client.queues:
            pk = ids.queues.get((queue.topic, queue.broker, queue.queue_id))
            if pk is not None and client.group in ids.groups and not queue.dropped:
                held[ids.groups[client.group], client.client_id, pk] = said(queue)
    return held


def _row(holding: Holding, memory: Memory, now: datetime, pk: int | None = None) -> Assignment:
    values = dict(zip(KEY, holding, strict=True)) | dict(zip(MEMORY, memory, strict=True))
    return Assignment(pk=pk, seen_since=now, last_seen=now, **values)


def _rewrite(rows: list[Assignment]) -> None:
    """Rows that are there; their `seen_since` stays. An UPDATE with a case per row and column takes 30 times longer."""
    Assignment.objects.bulk_create(
        rows, batch_size=BATCH, update_conflicts=True, unique_fields=["pk"], update_fields=[*MEMORY, "last_seen"]
    )


@dataclass(frozen=True)
class _LetGo:
    spoke: frozenset[tuple[int, str]]
    members: dict[int, frozenset[str]]

    @classmethod
    def of(cls, ids: EntityIds, reading: MembersReading) -> "_LetGo":
        spoke = {(c.group, c.client_id) for c in reading.clients if c.error is None and c.group in ids.groups}
        return cls(
            frozenset((ids.groups[group], client_id) for group, client_id in spoke),
            {
                ids.groups[answer.group]: frozenset(member.client_id for member in answer.members)
                for answer in reading.groups
                if answer.complete and answer.group in ids.groups
            },
        )

    def says(self, holding: Holding) -> bool:
        group, client_id, _ = holding
        return (group, client_id) in self.spoke or (group in self.members and client_id not in self.members[group])
