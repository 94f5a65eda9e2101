"""Brokers that keep failed messages of many groups from coming back: one row each, not one a group."""

from collections.abc import Sequence

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext, ngettext

from consumers.models import ConsumerGroup, GroupBroker, GroupKind, QueueSnapshot, TopicKind
from consumers.selectors.measures import count
from consumers.vocabulary.groups import BROADCASTING

from .broker_facts import KnownBroker
from .condition_rows import ConditionName, FailingGroup, Severity
from .facts import WRITE
from .suspects import own_retry_topic, with_permissions


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
        severity=Severity.CRITICAL if stuck else Severity.WARNING if unclear else Severity.NOTE,
        detail=f"{why % words} {_landing(stuck, taking, unclear)}",
        cure=_cure(broker),
        since=None,
    )


def _landing(stuck: int, taking: list[str], unclear: list[str]) -> str:
    if stuck:
        return ngettext(
            "Of %(n)s group with queues there no other broker takes failed messages: the offset of what fails stands.",
            "Of %(n)s groups with queues there no other broker takes failed messages: the offset of what fails stands.",
            stuck,
        ) % {"n": count(stuck)}
    if taking:
        return gettext("Failed messages of its queues go to %(others)s.") % {"others": ", ".join(taking)}
    return gettext("Whether %(others)s takes failed messages of its queues is not known.") % {
        "others": ", ".join(unclear)
    }


def _wiped(cluster: str, namesrv: str, broker: KnownBroker) -> FailingGroup:
    detail = gettext(
        "Name servers tell clients that %(broker)s takes no messages (wipeWritePerm). It takes failed ones back all "
        "the same, except what orderly members have tried too often."
    )
    return FailingGroup(
        cluster=cluster,
        group=None,
        broker=broker.name,
        groups=_groups_on(broker).count(),
        name=ConditionName.ROUTED,
        severity=Severity.NOTE,
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
