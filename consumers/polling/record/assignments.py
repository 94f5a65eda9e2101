"""Which client held which queue, from when to when, as far as polling can tell.

An interval ends when its client spoke and no longer holds the queue, or when a whole list of members lacks it.
A client that did not answer keeps its intervals: silence is not a loss.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from consumers.models import Assignment, Cluster
from consumers.polling.reading import MembersReading

from .ids import BATCH, EntityIds
from .stamps import stamp

Holding = tuple[int, str, int]  # group id, client id, queue id


def record_assignments(cluster: Cluster, ids: EntityIds, reading: MembersReading) -> None:
    now = reading.taken_at
    present = Assignment.objects.filter(group__cluster=cluster, gone_by=None)
    known = {(row.group_id, row.client_id, row.queue_id): row.pk for row in present}
    held = set(_held(ids, reading))
    Assignment.objects.bulk_create(
        [
            Assignment(group_id=group, client_id=client_id, queue_id=queue, seen_since=now, last_seen=now)
            for group, client_id, queue in sorted(held - known.keys())
        ],
        batch_size=BATCH,
    )
    stamp(Assignment.objects.all(), [known[holding] for holding in held & known.keys()], last_seen=now)
    let_go = _LetGo.of(ids, reading)
    stamp(Assignment.objects.all(), [known[row] for row in known.keys() - held if let_go.says(row)], gone_by=now)


def _held(ids: EntityIds, reading: MembersReading) -> Iterator[Holding]:
    for client in reading.clients:
        for queue in client.queues:
            pk = ids.queues.get((queue.topic, queue.broker, queue.queue_id))
            if pk is not None and client.group in ids.groups and not queue.dropped:
                yield ids.groups[client.group], client.client_id, pk


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
