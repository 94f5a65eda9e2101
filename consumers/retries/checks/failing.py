"""The retry conditions that do not hold, over all groups: one row a cause."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat, StrIndex
from django.db.models.lookups import GreaterThan
from django.utils.translation import gettext, ngettext

from consumers.models import Cluster, ConsumerGroup, GroupBroker, GroupKind, QueueSnapshot, TopicKind
from consumers.queries.declared import copied
from consumers.queries.findings import ids
from consumers.retries.checks import brokers, members
from consumers.retries.checks.brokers import accepted
from consumers.retries.checks.condition_rows import Condition, ConditionName, Configured, FailingGroup, Of, RetryCheck
from consumers.retries.checks.members import HEARTBEATS
from consumers.retries.checks.observed import KnownBroker, RetryConditions, facts_of, group_facts, known_brokers
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.findings import FindingSeverity
from consumers.vocabulary.states import BROADCASTING, WRITE
from consumers.words.marks import listed
from consumers.words.spans import count, counted

# What must hold for a group's failed messages to come back: rows, and pure rules over facts.
CHECKS = {
    check.name: check
    for module in (members, brokers)
    for check in vars(module).values()
    if isinstance(check, RetryCheck)
}


def conditions_of(cluster: str, group: str, now: datetime) -> list[Condition]:
    """What does not hold first, the worst of it before the rest. Those that mean nothing for such a group are left out:
    a broadcasting group has no retries. A fixed number of queries. Raises ConsumerGroup.DoesNotExist.
    """
    return conditions(group_facts(cluster, group, now))


def conditions(conditions: RetryConditions) -> list[Condition]:
    meant = {Of.ALL}
    if not conditions.is_broadcasting:
        meant |= {Of.RETRIES, Of.POPPING if conditions.is_popping else Of.SENDING_BACK}
    return sorted((check(conditions) for check in CHECKS.values() if check.of in meant), key=lambda found: found.place)


# Which groups may fail a retry condition: found in SQL among all groups, so that only these are evaluated one by one.

UNREADABLE = (0, 2)
FIELDS = ("group__cluster_id", "group_id", "group__name", "broker", "changed_at")
OF_GROUP = ("group__kind", "group__message_model")
# Keys of clusters and names of their brokers.
Read = set[tuple[int, str]]


class Suspect(NamedTuple):
    """A group and a broker on which it may fail."""

    cluster_id: int
    group_id: int
    group: str
    broker: str
    since: datetime


def suspects(brokers: Iterable[KnownBroker], now: datetime) -> dict[ConditionName, list[Suspect]]:
    """Two queries. Brokers that were not read lately, and broadcasting groups, are left out."""
    read = {(broker.cluster_id, broker.name) for broker in brokers if broker.unread is None}
    found: dict[ConditionName, list[Suspect]] = {}
    for row, names in _unusual(read):
        for name in names:
            found.setdefault(name, []).append(row)
    absent = _absent(read, now)
    if absent:
        found[ConditionName.GROUP_EXISTS] = absent
    return found


def own_retry_topic(*permissions: int) -> Q:
    """That the group's own retry topic has one of these permissions. `said`: as both databases print the JSON,
    {"%RETRY%billing": 6}. LIKE would take the % of the name for a wildcard."""
    texts = [Concat(Value(f'"{RETRY_PREFIX}'), F("group__name"), Value(f'": {one}')) for one in permissions]
    return _or([GreaterThan(StrIndex("said", text), 0) for text in texts])


def with_permissions(rows: "QuerySet[GroupBroker]") -> "QuerySet[GroupBroker]":
    return rows.alias(said=Cast("retry_permissions", TextField()))


def _unusual(read: Read) -> list[tuple[Suspect, list[ConditionName]]]:
    """One pass over the rows, of which few are unusual: only of these the group is looked up, so that nothing is asked
    of the group in SQL."""
    queues = Q(configured=True, retry_queue_nums__lte=0) | Q(retry_queue_nums__gt=F("retry_read_queues"))
    # Names of topics hold no colon.
    shut = _or([GreaterThan(StrIndex("said", Value(f": {one}")), 0) for one in (0, 2, 4)])
    unusual = with_permissions(GroupBroker.objects.all()).filter(queues | Q(dlq_permission__in=UNREADABLE) | shut)
    numbers = ("retry_queue_nums", "retry_read_queues", "dlq_permission", "retry_permissions")
    found = []
    for *row, kind, model, asked, there, dead, permissions in unusual.values_list(*FIELDS, *OF_GROUP, *numbers):
        one = Suspect(*row)
        if (one.cluster_id, one.broker) in read and kind == GroupKind.USER and model != BROADCASTING:
            configured = Configured(one.group, asked, there, dead, permissions)
            found.append((one, [name for name, check in CHECKS.items() if check.suspect(configured)]))
    return sorted(found, key=lambda each: (each[0].group, each[0].broker))


def _absent(read: Read, now: datetime) -> list[Suspect]:
    held = QueueSnapshot.objects.filter(
        group=OuterRef("group"), queue__broker=OuterRef("broker"), queue__topic__kind=TopicKind.NORMAL
    )
    rows = GroupBroker.objects.filter(Exists(held), configured=False, changed_at__lt=now - HEARTBEATS)
    found = []
    for *row, kind, model, online in rows.values_list(*FIELDS, *OF_GROUP, "group__online"):
        one = Suspect(*row)
        if online and (one.cluster_id, one.broker) in read and kind == GroupKind.USER and model != BROADCASTING:
            found.append(one)
    return sorted(found, key=lambda one: (one.group, one.broker))


def _or(claims: Iterable[Q | GreaterThan]) -> Q:
    found = Q()
    for claim in claims:
        found |= Q(claim)
    return found


# Brokers that keep failed messages of many groups from coming back: one row each, not one a group.


def closed_brokers(cluster: str, namesrv: str, brokers: Sequence[KnownBroker]) -> list[FailingGroup]:
    """Those that take no messages, with the groups of their queues; up to two queries each."""
    found = []
    for broker in brokers:
        if False in (broker.has_master, broker.permission.has(WRITE)):
            found.append(_closed(cluster, broker, brokers))
        elif broker.routed.has(WRITE) is False:
            found.append(_wiped(cluster, namesrv, broker))
    return [row for row in found if row.groups]


def _closed(cluster: str, broker: KnownBroker, brokers: Sequence[KnownBroker]) -> FailingGroup:
    others = [one for one in brokers if one is not broker]
    taking = [one.name for one in others if _may_take(one) is True]
    unclear = [one.name for one in others if _may_take(one) is None]
    held = _groups_on(broker)
    groups = held.count()
    stuck = held.exclude(Exists(_way_round([*taking, *unclear]))).count() if groups else 0
    words = {"broker": broker.name, "permission": broker.permission.value, "stuck": count(stuck)}
    why = (
        gettext("The master of %(broker)s is down.")
        if broker.has_master is False
        else gettext("%(broker)s takes no messages: its brokerPermission is %(permission)s.")
    )
    return FailingGroup(
        cluster=cluster,
        group=None,
        broker=broker.name,
        groups=groups,
        name=ConditionName.ACCEPTED if stuck else ConditionName.TAKES_BACK,
        severity=FindingSeverity.CRITICAL if stuck else FindingSeverity.WARNING if unclear else FindingSeverity.INFO,
        detail=f"{why % words} {_landing(stuck, taking, unclear)}",
        cure=_cure(broker),
        since=None,
    )


def _landing(stuck: int, taking: list[str], unclear: list[str]) -> str:
    if stuck:
        return ngettext(
            "%(n)s group with queues there has no other broker that accepts failed messages: offsets of "
            "failed messages are not committed.",
            "%(n)s groups with queues there have no other broker that accepts failed messages: offsets "
            "of failed messages are not committed.",
            stuck,
        ) % {"n": count(stuck)}
    if taking:
        return gettext("Failed messages of its queues go to %(others)s.") % {"others": listed(taking)}
    return gettext("Unknown whether %(others)s accepts failed messages of its queues.") % {"others": listed(unclear)}


def _wiped(cluster: str, namesrv: str, broker: KnownBroker) -> FailingGroup:
    detail = gettext(
        "Name servers route no writes to %(broker)s (wipeWritePerm). It still takes failed messages "
        "back, except those of orderly members whose retries are exceeded."
    )
    return FailingGroup(
        cluster=cluster,
        group=None,
        broker=broker.name,
        groups=_groups_on(broker).count(),
        name=ConditionName.ROUTED,
        severity=FindingSeverity.INFO,
        detail=detail % {"broker": broker.name},
        cure=gettext("“%(command)s”, on every name server.")
        % {"command": f"mqadmin addWritePerm -n '{namesrv}' -b {broker.name}"},
        since=None,
    )


def _cure(broker: KnownBroker) -> str:
    command = f"mqadmin updateBrokerConfig -b {broker.address} -k brokerPermission -v 6"
    return gettext("Start its master, or open it when what it was closed for is done: “%(command)s”.") % {
        "command": command
    }


def _may_take(broker: KnownBroker) -> bool | None:
    claims = (broker.has_master, broker.permission.has(WRITE), broker.routed.has(WRITE))
    return False if False in claims else None if None in claims else True


def _groups_on(broker: KnownBroker) -> "QuerySet[ConsumerGroup]":
    held = QueueSnapshot.objects.filter(
        group=OuterRef("pk"), queue__broker=broker.name, queue__topic__kind=TopicKind.NORMAL
    )
    groups = ConsumerGroup.objects.filter(cluster=broker.cluster_id, kind=GroupKind.USER)
    return groups.exclude(message_model=BROADCASTING).filter(Exists(held)).order_by()


def _way_round(names: list[str]) -> "QuerySet[GroupBroker]":
    """Where copies of a group's failed messages can be written."""
    rows = GroupBroker.objects.filter(group=OuterRef("pk"), broker__in=names, configured=True)
    return with_permissions(rows).filter(own_retry_topic(6, 2))


# More groups of a cluster that fail the same condition are one row: somebody set them all so.
MANY = 20
# What a group that fails these may lead to: that no broker takes its failed messages.
MAY_LEAVE_NONE = (ConditionName.GROUP_EXISTS, ConditionName.RETRY_WRITABLE)


def failing_groups(cluster: str | None, now: datetime) -> list[FailingGroup]:
    """Of user groups of one cluster, or of all: what is CRITICAL or a WARNING, and closed brokers; the worst first.

    The number of queries goes by brokers that are closed, not by groups. Left out are what concerns members (their
    settings, messages that expired) and consumeEnable: whoever set that knows.
    """
    named = {row.pk: row for row in Cluster.objects.all() if cluster in (None, row.name)}
    brokers = known_brokers(list(named), now)
    found = [row for pk, one in named.items() for row in closed_brokers(one.name, one.namesrv, brokers[pk])]
    closed = {(row.cluster, row.broker) for row in found if row.name is not ConditionName.ROUTED}
    single: dict[ConditionName, list[Suspect]] = {}
    for name, rows in suspects([broker for each in brokers.values() for broker in each], now).items():
        for pk, of_cluster in _by_cluster(rows).items():
            if len({row.group_id for row in of_cluster}) > MANY:
                found.append(_many(named[pk].name, name, of_cluster))
            else:
                single.setdefault(name, []).extend(of_cluster)
    found += _judged(single, closed, now)
    return sorted(found, key=_place)


def _judged(
    single: dict[ConditionName, list[Suspect]], closed: set[tuple[str, str | None]], now: datetime
) -> list[FailingGroup]:
    """Suspects by the rules themselves. What a `closed` broker leads to is told with it; by cluster and name."""
    wanted = {row.group_id for rows in single.values() for row in rows}
    groups = ConsumerGroup.objects.filter(pk__in=wanted).select_related("cluster")
    conditions = (
        {group.pk: one for group, one in zip(groups, facts_of(list(groups), now), strict=True)} if wanted else {}
    )
    found: dict[tuple[int, ConditionName], FailingGroup] = {}
    for name, rows in single.items():
        for pk in {row.group_id for row in rows}:
            since = min(row.since for row in rows if row.group_id == pk)
            for rule in (CHECKS[name], accepted) if name in MAY_LEAVE_NONE else (CHECKS[name],):
                condition = rule(conditions[pk])
                places = {(conditions[pk].cluster, broker) for broker in condition.brokers}
                if condition.is_failing and not (rule is accepted and closed & places):
                    found[pk, condition.name] = _row(conditions[pk], condition, since)
    return list(found.values())


def _row(conditions: RetryConditions, condition: Condition, since: datetime) -> FailingGroup:
    return copied(
        FailingGroup,
        condition,
        cluster=conditions.cluster,
        group=conditions.group,
        broker=condition.brokers[0] if len(condition.brokers) == 1 else None,
        groups=1,
        since=since,
    )


def _many(cluster: str, name: ConditionName, rows: Sequence[Suspect]) -> FailingGroup:
    check = CHECKS[name]
    brokers, groups = {row.broker for row in rows}, {row.group for row in rows}
    words = {"n_groups": counted("n_groups", len(groups)), "groups": ids(groups), "brokers": ids(brokers)}
    return FailingGroup(
        cluster=cluster,
        group=None,
        broker=brokers.pop() if len(brokers) == 1 else None,
        groups=len(groups),
        name=name,
        severity=check.severity,
        detail=str(check.of_many) % words,
        cure=str(check.cure_of_many),
        since=min(row.since for row in rows),
    )


def _by_cluster(rows: Sequence[Suspect]) -> dict[int, list[Suspect]]:
    found: dict[int, list[Suspect]] = {}
    for row in rows:
        found.setdefault(row.cluster_id, []).append(row)
    return found


def _place(row: FailingGroup) -> tuple[int, int, int, str, str]:
    names = list(ConditionName)
    return list(FindingSeverity).index(row.severity), names.index(row.name), -row.groups, row.cluster, row.group or ""
