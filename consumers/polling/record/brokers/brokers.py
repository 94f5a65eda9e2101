"""Brokers, their topics' queues and their groups' configuration, rewritten only where something differs."""

from datetime import datetime

from consumers.models import Broker, Cluster, ConsumerGroup, Queue
from consumers.polling.reading import BrokerListing, BrokerReading, OffsetsReading
from consumers.polling.record.tables.ids import EntityIds, QueueKey
from consumers.polling.record.tables.stamps import stamp_each

MASTER = 0
READ, WRITE = 4, 2  # bits of a topic's perm (RocketMQ 5.4.0, PermName)


def record_brokers(cluster: Cluster, reading: OffsetsReading) -> None:
    """The master of each broker name carries the outcome of the reading; the others are listed as they are."""
    outcomes = {broker.name: broker for broker in reading.brokers}
    stored = {(broker.name, broker.broker_id): broker for broker in cluster.brokers.all()}
    masters = {BrokerListing(b.name, MASTER, b.address or "") for b in reading.brokers}
    listed = {(b.name, b.broker_id): b for b in [*masters, *reading.listed]}
    clusters = {b.name: b.cluster for b in reading.listed if b.cluster}
    for key, listing in listed.items():
        row = stored.get(key) or Broker(cluster=cluster, name=listing.name, broker_id=listing.broker_id)
        row.address = listing.address or row.address
        # A broker that is listed no more is of the cluster that it was of.
        row.cluster_name = clusters.get(listing.name, row.cluster_name)
        if listing.broker_id == MASTER:
            _note_outcome(row, outcomes[listing.name], reading.taken_at)
        else:
            _note_slave(row, outcomes[listing.name], reading.taken_at)
        row.save()
    for key in stored.keys() - listed.keys():
        if key[1] != MASTER:
            stored[key].delete()


def _note_outcome(row: Broker, outcome: BrokerReading, now: datetime) -> None:
    """A slave in the master's place makes the part a good reading; that the master gave none is said beside it."""
    row.reachable = outcome.read and outcome.read_from is None
    row.read_from = outcome.read_from
    row.error = outcome.error or outcome.master_error
    row.version = outcome.version or row.version
    if outcome.read:
        row.last_read_at, row.failing_since = now, None
    else:
        row.failing_since = row.failing_since or now


def _note_slave(row: Broker, outcome: BrokerReading, now: datetime) -> None:
    """A slave that was not asked is neither reachable nor unreachable."""
    row.reachable = None
    if row.address == outcome.read_from:
        row.reachable, row.last_read_at = True, now


def broker_entries(reading: OffsetsReading) -> list[dict[str, object]]:
    """What the reading's row keeps of each broker."""
    return [
        {
            "name": broker.name,
            "read": broker.read,
            "error": broker.error or broker.master_error,
            "read_from": broker.read_from,
            "topics_appeared": list(broker.appeared),
            "calls": broker.cost.calls if broker.cost else None,
            "bytes": broker.cost.bytes if broker.cost else None,
            "seconds": round(broker.cost.seconds, 4) if broker.cost else None,
        }
        for broker in reading.brokers
    ]


def record_topic_config(cluster: Cluster, ids: EntityIds, broker: BrokerReading, now: datetime) -> None:
    """Which queues of the known topics can be read and written on this broker; neither where it has them no more."""
    # A slave's lists may be a minute old.
    if broker.topics is None or broker.read_from is not None:
        return
    ids.configured[broker.name] = {topic.name: max(topic.read_queues, topic.write_queues) for topic in broker.topics}
    wanted = {}
    for topic in broker.topics:
        for queue_id in range(max(topic.read_queues, topic.write_queues)):
            pk = ids.queues.get((topic.name, broker.name, queue_id))
            if pk is not None:
                readable = queue_id < topic.read_queues and bool(topic.perm & READ)
                wanted[pk] = (readable, queue_id < topic.write_queues and bool(topic.perm & WRITE))
    fields = ("readable", "writable", "readable_since")
    differing = {}
    stored = Queue.objects.filter(topic__cluster=cluster, broker=broker.name).values_list("pk", *fields)
    for pk, *before, since in stored.iterator():
        after = wanted.get(pk, (False, False))
        if after != tuple(before):
            # What was not known before has not changed.
            flipped = before[0] is not None and before[0] != after[0]
            differing[pk] = (*after, now if flipped else since)
    stamp_each(Queue.objects.all(), fields, differing)


def write_only_queues(reading: OffsetsReading, topics: set[str]) -> set[QueueKey]:
    """Queues of `topics` that take messages and give none: no offset is ever read of them, but they must be known."""
    return {
        (topic.name, broker.name, queue_id)
        for broker in reading.brokers
        for topic in broker.topics or ()
        if topic.name in topics and topic.perm & WRITE
        for queue_id in range(topic.read_queues, topic.write_queues)
    }


def record_group_config(cluster: Cluster, reading: OffsetsReading) -> None:
    masters = [broker for broker in reading.brokers if broker.read_from is None]
    configs = {config.name: config for broker in masters for config in broker.groups or ()}
    fields = ("consume_enable", "retry_max_times", "retry_queue_nums")
    if not configs:
        return
    wanted = {name: tuple(getattr(config, field) for field in fields) for name, config in configs.items()}
    stored = cluster.groups.values_list("pk", "name", *fields)
    differing = {pk: wanted[name] for pk, name, *before in stored if name in wanted and wanted[name] != tuple(before)}
    stamp_each(ConsumerGroup.objects.all(), fields, differing)
