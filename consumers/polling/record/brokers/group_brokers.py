"""How each broker configures each user group: rows that are written only where a broker says something else."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from consumers.models import Cluster, GroupBroker
from consumers.polling.reading import BrokerReading, OffsetsReading
from consumers.polling.record.tables.ids import EntityIds
from consumers.rocketmq.bodies.broker_values import GroupConfig, TopicConfig
from consumers.rocketmq.names import RETRY_PREFIX, dlq_topic, is_system_group, retry_topic, topic_kind

# Whose retry topics a broker's topics are.

READ_OR_WRITE = 6  # bits of a topic's perm (RocketMQ 5.4.0, PermName); 1, inherit, says nothing here


def retry_permissions(topics: Iterable[TopicConfig], groups: Mapping[str, object]) -> dict[str, dict[str, int]]:
    """{group: {retry topic: a sum of 4 (read) and 2 (write)}} of those among `groups`.

    POP retries have a topic per group and topic (names.is_retry_topic_of). A name that is a group's own in full is
    nothing else; where `group_topic` can be split at several places, it counts for each group that it can be of.
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
    places = [at for at, letter in enumerate(rest) if letter == "_"]
    return [rest[:at] for at in places if rest[:at] in groups and rest[at + 1 :] in normal]


BATCH = 2000


class Configured(NamedTuple):
    """What one broker says of one group, as the columns of GroupBroker."""

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
    """What the database holds of a cluster, by broker and the group's key: what the next reading is compared with."""

    stored: dict[str, dict[int, Configured]] = field(default_factory=dict)

    @classmethod
    def of(cls, cluster: Cluster) -> "GroupBrokers":
        rows = GroupBroker.objects.filter(group__cluster=cluster)
        stored: dict[str, dict[int, Configured]] = {}
        for broker, group, *values in rows.values_list("broker", "group", *Configured._fields).iterator():
            stored.setdefault(broker, {})[group] = Configured(*values)
        return cls(stored)

    def record(self, cluster: Cluster, ids: EntityIds, reading: OffsetsReading) -> None:
        """Brokers whose configuration was not in the reading keep their rows; those that are gone lose them."""
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
    """Of every group, those that the broker does not know among them."""
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
