"""The offset stores of one group side by side: the broker's memory, its file, the clients' files, their memory."""

from datetime import datetime, timedelta

from django.db.models import Max

from consumers.models import ConsumerGroup, Queue, QueueSample, QueueSnapshot
from consumers.selectors.brokers import broker_ages
from consumers.selectors.limits import limits

from .clients import Members, members_of
from .files import Files, QueueKey, files_of
from .row import Facts, Place, offset_row
from .rows import GroupOffsets


def group_offsets(group: ConsumerGroup, *, now: datetime, topic: str | None = None) -> GroupOffsets:
    """Every queue that any of the stores knows, in order of topic, broker and id. A fixed number of queries."""
    members = members_of(group)
    files = files_of(group, members.commit_seconds)
    bounds = limits()
    facts = Facts(
        group=group,
        brokers={broker.name: broker for broker in broker_ages([group.cluster_id])[group.cluster_id].brokers},
        members=members,
        files=files,
        samples={sample.queue_id: sample for sample in QueueSample.objects.filter(group=group, offset=None)},
        now=now,
        limits=bounds,
        max_age=timedelta(seconds=bounds.late_seconds),
    )
    places = _places(group, members, files, topic)
    return GroupOffsets(
        rows=[offset_row(place, facts) for place in places],
        files=files.file_rows(),
        names_files=files.names_files,
        is_broadcasting=members.is_broadcasting,
        is_popping=members.is_popping,
        pops=members.pops(),
        pop_unknown=members.pop_unknown() if members.is_popping else None,
        commit_interval_seconds=members.told_commit_seconds,
    )


def _places(group: ConsumerGroup, members: Members, files: Files, topic: str | None) -> list[Place]:
    """The broker offset of a queue without a snapshot of this group is that of another group's."""
    places: dict[QueueKey, Place] = {}
    for snapshot in QueueSnapshot.objects.filter(group=group).select_related("queue__topic"):
        queue = snapshot.queue
        places[queue.topic.name, queue.broker, queue.queue_id] = Place.of(queue, snapshot, snapshot.broker_offset)
    seen = {place.pk for place in places.values()}
    held = Queue.objects.filter(pk__in=members.held.keys() - seen).select_related("topic")
    for queue in held.annotate(end=Max("snapshots__broker_offset")):
        places[queue.topic.name, queue.broker, queue.queue_id] = Place.of(queue, None, queue.end)
    for key in files.rows.keys() - places.keys():
        places[key] = Place(*key, pk=None, snapshot=None, broker_offset=None)
    chosen = [place for place in places.values() if topic in (None, place.topic)]
    return sorted(chosen, key=lambda place: (place.topic, place.broker or "", place.queue_id))
