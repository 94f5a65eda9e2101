"""Which groups may fail a retry condition: found in SQL among all groups, so that only these are judged one by one."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Coalesce, Concat, StrIndex
from django.db.models.lookups import GreaterThan

from consumers.models import GroupBroker, GroupKind, Queue, QueueSnapshot, TopicKind
from consumers.polling.flags import BROADCASTING
from consumers.rocketmq.names import RETRY_PREFIX

from .broker_facts import KnownBroker
from .condition_rows import ConditionName
from .rules.group import HEARTBEATS


@dataclass(frozen=True)
class Suspect:
    """A group and a broker on which it may fail."""

    cluster_id: int
    group_id: int
    group: str
    broker: str
    since: datetime


def suspects(brokers: Iterable[KnownBroker], now: datetime) -> dict[ConditionName, list[Suspect]]:
    """One query for each condition. Brokers that were not read lately, and broadcasting groups, are left out."""
    rows = _told(brokers)
    wanted = {
        ConditionName.KEPT: rows.filter(configured=True, retry_queue_nums__lte=0),
        ConditionName.GROUP_EXISTS: _absent(rows, now),
        ConditionName.RETRY_READABLE: rows.filter(_any_retry_topic(0, 2)),
        ConditionName.RETRY_WRITABLE: rows.filter(own_retry_topic(0, 4)),
        ConditionName.RETRY_QUEUES: _more_than_read(rows),
        ConditionName.DLQ_READABLE: rows.filter(dlq_permission__in=(0, 2)),
    }
    fields = ("group__cluster_id", "group_id", "group__name", "broker", "changed_at")
    return {name: [Suspect(*row) for row in found.values_list(*fields)] for name, found in wanted.items()}


def with_permissions(rows: "QuerySet[GroupBroker]") -> "QuerySet[GroupBroker]":
    """`said` is the JSON of the retry topics' permissions as both databases print it: {"%RETRY%billing": 6}."""
    return rows.alias(said=Cast("retry_permissions", TextField()))


def own_retry_topic(*permissions: int) -> Q:
    """That the group's own retry topic has one of these permissions."""
    return _or(Concat(Value(f'"{RETRY_PREFIX}'), F("group__name"), Value(f'": {one}')) for one in permissions)


def _any_retry_topic(*permissions: int) -> Q:
    """Names of topics hold no colon."""
    return _or(Value(f": {one}") for one in permissions)


def _or(texts: Iterable[Any]) -> Q:
    """LIKE would take the % of the names for wildcards."""
    found = Q()
    for text in texts:
        found |= Q(GreaterThan(StrIndex("said", text), 0))
    return found


def _told(brokers: Iterable[KnownBroker]) -> "QuerySet[GroupBroker]":
    by_cluster: dict[int, list[str]] = {}
    for broker in brokers:
        if broker.unread is None:
            by_cluster.setdefault(broker.cluster_id, []).append(broker.name)
    if not by_cluster:
        return GroupBroker.objects.none()
    read = Q()
    for cluster, names in by_cluster.items():
        read |= Q(group__cluster=cluster, broker__in=names)
    rows = GroupBroker.objects.filter(read, group__kind=GroupKind.USER).exclude(group__message_model=BROADCASTING)
    return with_permissions(rows).order_by("group__name", "broker")


def _absent(rows: "QuerySet[GroupBroker]", now: datetime) -> "QuerySet[GroupBroker]":
    held = QueueSnapshot.objects.filter(
        group=OuterRef("group"), queue__broker=OuterRef("broker"), queue__topic__kind=TopicKind.NORMAL
    )
    absent = rows.filter(configured=False, group__online=True, changed_at__lt=now - HEARTBEATS)
    return absent.filter(Exists(held))


def _more_than_read(rows: "QuerySet[GroupBroker]") -> "QuerySet[GroupBroker]":
    """One queue, the default, is what topics are made with: only more are looked up."""
    queues = Queue.objects.filter(
        topic__cluster=OuterRef("group__cluster"),
        topic__name=Concat(Value(RETRY_PREFIX), OuterRef("group__name")),
        broker=OuterRef("broker"),
        readable=True,
    )
    counted = queues.order_by().values("broker").annotate(n=Count("pk")).values("n")
    return rows.filter(retry_queue_nums__gt=1).filter(
        retry_queue_nums__gt=Coalesce(Subquery(counted, output_field=IntegerField()), 0)
    )
