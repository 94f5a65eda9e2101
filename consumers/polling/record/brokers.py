"""Brokers, their topics, and how each configures every group: rewritten only where something differs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from consumers.models import Broker, Cluster, ConsumerGroup, GroupBroker, Queue
from consumers.polling.brokers.remembered import RoutedPermission, StoreConfig
from consumers.polling.reading import BrokerListing, BrokerReading, OffsetsReading
from consumers.rocketmq.bodies.config_bodies import GroupConfig, TopicConfig
from consumers.rocketmq.names import RETRY_PREFIX, dlq_topic, is_system_group, retry_topic, topic_kind
from consumers.vocabulary.states import MASTER, READ, WRITE

from .keyed_rows import EntityIds, QueueKey, stamp_each


def record_brokers(cluster: Cluster, reading: OffsetsReading) -> None:
    """The master of each broker name gets the outcome of the reading; the other brokers are listed as they are.

    That a broker was read is recorded by `record_reads`, after what was read of it: until then its rows are as old as
    they were.
    """
    outcomes = {broker.name: broker for broker in reading.brokers}
    stored = {(broker.name, broker.broker_id): broker for broker in cluster.brokers.all()}
    masters = {BrokerListing(b.name, MASTER, b.address or "") for b in reading.brokers}
    listed = {(b.name, b.broker_id): b for b in [*masters, *reading.listed]}
    clusters = {b.name: b.cluster for b in reading.listed if b.cluster}
    for key, listing in listed.items():
        row = stored.get(key) or Broker(cluster=cluster, name=listing.name, broker_id=listing.broker_id)
        row.address = listing.address or row.address
        # A broker that is no longer listed keeps its last cluster.
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
    """A slave in the master's place makes the part a good reading; the master's failure is stored with it."""
    row.reachable = outcome.read and outcome.read_from is None
    row.read_from = outcome.read_from
    row.version = outcome.version or row.version
    if not outcome.read:
        row.error, row.failing_since = outcome.error, row.failing_since or now


def _note_slave(row: Broker, outcome: BrokerReading, now: datetime) -> None:
    """A slave that was not asked counts as neither reachable nor unreachable."""
    row.reachable = None
    if row.address == outcome.read_from:
        row.reachable, row.last_read_at = True, now


def record_reads(cluster: Cluster, reading: OffsetsReading) -> None:
    """The masters that were read are as old as the reading. A slave's answer counts for its master."""
    parts = {broker.name: broker for broker in reading.brokers if broker.read}
    rows = list(cluster.brokers.filter(broker_id=MASTER, name__in=parts))
    for row in rows:
        part = parts[row.name]
        row.last_read_at, row.failing_since, row.error = reading.taken_at, None, part.master_error
        row.dispatch_behind_bytes = part.dispatch.behind_bytes if part.dispatch else None
        row.dispatch_error = part.dispatch.error if part.dispatch else None
    fields = ["last_read_at", "failing_since", "error", "dispatch_behind_bytes", "dispatch_error"]
    Broker.objects.bulk_update(rows, fields)


def broker_entries(reading: OffsetsReading) -> list[dict[str, object]]:
    """The entry of each broker in the reading's row."""
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
            **_backlog(broker),
        }
        for broker in reading.brokers
    ]


def _backlog(broker: BrokerReading) -> dict[str, object]:
    """By how many bytes the broker was behind with its dispatch; empty where it was not, or did not say."""
    behind = broker.dispatch.behind_bytes if broker.dispatch else None
    return {"dispatch_behind_bytes": behind} if behind else {}


def record_topic_config(cluster: Cluster, ids: EntityIds, broker: BrokerReading, now: datetime) -> None:
    """Which queues of the known topics can be read and written on this broker; neither if the broker no longer has
    them.
    """
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
            # A value that was unknown before has not changed.
            flipped = before[0] is not None and before[0] != after[0]
            differing[pk] = (*after, now if flipped else since)
    stamp_each(Queue.objects.all(), fields, differing)


def write_only_queues(reading: OffsetsReading, topics: set[str]) -> set[QueueKey]:
    """Queues of `topics` that accept messages but cannot be read: no offset is ever read for them, but they need
    rows.
    """
    return {
        (topic.name, broker.name, queue_id)
        for broker in reading.brokers
        for topic in broker.topics or ()
        if topic.name in topics and topic.perm & WRITE
        for queue_id in range(topic.read_queues, topic.write_queues)
    }


def record_group_config(cluster: Cluster, reading: OffsetsReading) -> None:
    """A group may consume if one of its brokers permits it. A broker whose groups are not in the reading counts with
    its previous configuration."""
    asked = [broker for broker in reading.brokers if broker.read_from is None and broker.groups is not None]
    configs = {config.name: config for broker in asked for config in broker.groups or ()}
    fields = ("consume_enable", "retry_max_times", "retry_queue_nums")
    if not configs:
        return
    enabled = {config.name for broker in asked for config in broker.groups or () if config.consume_enable}
    if configs.keys() - enabled:
        others = GroupBroker.objects.filter(group__cluster=cluster, consume_enable=True)
        others = others.exclude(broker__in=[broker.name for broker in asked])
        enabled |= set(others.values_list("group__name", flat=True))
    wanted = {
        name: (name in enabled, config.retry_max_times, config.retry_queue_nums) for name, config in configs.items()
    }
    stored = cluster.groups.values_list("pk", "name", *fields)
    differing = {pk: wanted[name] for pk, name, *before in stored if name in wanted and wanted[name] != tuple(before)}
    stamp_each(ConsumerGroup.objects.all(), fields, differing)


# How each broker configures each user group; rows are written only if the broker reports something new.
# Retry topics on a broker are assigned to their groups.

READ_OR_WRITE = 6  # bits of a topic's perm (RocketMQ 5.4.0, PermName); 1, inherit, says nothing here


def retry_permissions(topics: Iterable[TopicConfig], groups: Mapping[str, object]) -> dict[str, dict[str, int]]:
    """{group: {retry topic: a sum of 4 (read) and 2 (write)}} for the groups in `groups`.

    POP retries have a topic per group and topic (names.is_retry_topic_of). A name that is completely a group's own
    counts for that group only. If `group_topic` can be split at several places, the name counts for each possible
    group.
    """
    listed = list(topics)
    normal = {topic.name for topic in listed if topic_kind(topic.name) == "normal"}
    found: dict[str, dict[str, int]] = {}
    for topic in listed:
        if topic.name.startswith(RETRY_PREFIX):
            for group in _groups_of(topic.name.removeprefix(RETRY_PREFIX), groups, normal):
                found.setdefault(group, {})[topic.name] = topic.perm & READ_OR_WRITE
    return found


def _groups_of(rest: str, groups: Mapping[str, object], normal: set[str]) -> list[str]:
    if rest in groups:
        return [rest]
    group, plus, _ = rest.partition("+")
    if plus:
        return [group] if group in groups else []
    places = [at for at, character in enumerate(rest) if character == "_"]
    return [rest[:at] for at in places if rest[:at] in groups and rest[at + 1 :] in normal]


BATCH = 2000


class Configured(NamedTuple):
    """One broker's configuration of one group, as the columns of GroupBroker."""

    configured: bool
    consume_enable: bool | None
    broadcast_enable: bool | None
    orderly: bool | None
    retry_max_times: int | None
    retry_queue_nums: int | None
    consume_timeout_minutes: int | None
    retry_policy: dict[str, Any] | None
    retry_permissions: dict[str, int]
    retry_read_queues: int | None
    dlq_permission: int | None


@dataclass
class GroupBrokers:
    """Stored configurations of a cluster, by broker and the group's key, to compare with the next reading."""

    stored: dict[str, dict[int, Configured]] = field(default_factory=dict)

    @classmethod
    def of(cls, cluster: Cluster) -> "GroupBrokers":
        rows = GroupBroker.objects.filter(group__cluster=cluster)
        stored: dict[str, dict[int, Configured]] = {}
        for broker, group, *values in rows.values_list("broker", "group", *Configured._fields).iterator():
            stored.setdefault(broker, {})[group] = Configured(*values)
        return cls(stored)

    def record(self, cluster: Cluster, ids: EntityIds, reading: OffsetsReading) -> None:
        """Brokers whose configuration was not in the reading keep their rows; brokers that are gone lose them."""
        groups = {name: pk for name, pk in ids.groups.items() if not is_system_group(name)}
        for broker in reading.brokers:
            if broker.read_from is None and broker.topics is not None and broker.groups is not None:
                self._write(broker.name, dict(_configured(broker, groups)), reading.taken_at)
        gone = self.stored.keys() - {broker.name for broker in reading.brokers}
        if gone and reading.error is None:
            GroupBroker.objects.filter(group__cluster=cluster, broker__in=gone).delete()
            self.stored = {name: rows for name, rows in self.stored.items() if name not in gone}

    def _write(self, broker: str, wanted: dict[int, Configured], now: datetime) -> None:
        stored = self.stored.setdefault(broker, {})
        differing = {group: values for group, values in wanted.items() if stored.get(group) != values}
        GroupBroker.objects.bulk_create(
            [
                GroupBroker(group_id=group, broker=broker, changed_at=now, **values._asdict())
                for group, values in differing.items()
            ],
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=["group", "broker"],
            update_fields=[*Configured._fields, "changed_at"],
        )
        stored.update(differing)


def _configured(broker: BrokerReading, groups: dict[str, int]) -> Iterator[tuple[int, Configured]]:
    """The configuration of every group, including groups that the broker does not know."""
    configs = {config.name: config for config in broker.groups or ()}
    retries = retry_permissions(broker.topics or (), groups)
    topics = {topic.name: topic for topic in broker.topics or ()}
    for name, pk in groups.items():
        own, dead = topics.get(retry_topic(name)), topics.get(dlq_topic(name))
        yield pk, _of(configs.get(name), retries.get(name, {}), own, dead)


def _of(
    config: GroupConfig | None, retries: dict[str, int], own: TopicConfig | None, dead: TopicConfig | None
) -> Configured:
    queues = None if own is None else own.read_queues
    permission = None if dead is None else dead.perm & READ_OR_WRITE
    if config is None:
        return Configured(False, None, None, None, None, None, None, None, retries, queues, permission)
    return Configured(
        configured=True,
        consume_enable=config.consume_enable,
        broadcast_enable=config.broadcast_enable,
        orderly=config.orderly,
        retry_max_times=config.retry_max_times,
        retry_queue_nums=config.retry_queue_nums,
        consume_timeout_minutes=config.consume_timeout_minutes,
        retry_policy=_as_json(config),
        retry_permissions=retries,
        retry_read_queues=queues,
        dlq_permission=permission,
    )


def _as_json(config: GroupConfig) -> dict[str, Any] | None:
    if config.retry_policy is None:
        return None
    policy = asdict(config.retry_policy)
    return policy | {"delays_ms": None if policy["delays_ms"] is None else list(policy["delays_ms"])}


def record_store_configs(cluster: Cluster, configs: Iterable[StoreConfig], now: datetime) -> None:
    """Stores the brokers' own configurations with their rows. A refusal leaves the known values and adds its reason."""
    for config in configs:
        row = cluster.brokers.filter(name=config.broker, broker_id=MASTER)
        if config.error is not None:
            row.update(config_error=config.error)
            continue
        row.update(
            file_reserved_hours=config.file_reserved_hours,
            delete_when=config.delete_when,
            disk_max_used_percent=config.disk_max_used_percent,
            permission=config.permission,
            delay_levels=config.delay_levels,
            flush_offsets_ms=config.flush_offsets_ms,
            config_at=now,
            config_error=None,
        )


def record_routed_permissions(cluster: Cluster, routed: Iterable[RoutedPermission], now: datetime) -> None:
    """Stores the permissions that name servers report for brokers. A failure leaves the known values and adds its
    reason.
    """
    for answer in routed:
        row = cluster.brokers.filter(name=answer.broker, broker_id=MASTER)
        if answer.error is not None:
            row.update(routed_error=answer.error)
        else:
            row.update(routed_permission=answer.permission, routed_at=now, routed_error=None)
