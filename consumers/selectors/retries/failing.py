"""The retry conditions that do not hold, over all groups: one row a cause."""

from collections.abc import Callable, Sequence
from datetime import datetime

from django.utils.translation import gettext

from consumers.models import Cluster, ConsumerGroup
from consumers.selectors.measures import count
from consumers.selectors.ownership.troubles.words import ids

from .broker_facts import known_brokers
from .closed_brokers import closed_brokers
from .condition_rows import Condition, ConditionName, FailingGroup, Severity
from .facts import GroupFacts
from .load_facts import facts_of
from .rules.accepted import accepted
from .rules.group import exists, kept
from .rules.topics import dead_readable, retry_queues, retry_readable, retry_writable
from .suspects import Suspect, suspects

# More groups of a cluster that fail the same condition are one row: somebody set them all so.
MANY = 20
RULES: dict[ConditionName, tuple[Callable[[GroupFacts], Condition], ...]] = {
    ConditionName.KEPT: (kept,),
    ConditionName.GROUP_EXISTS: (exists, accepted),
    ConditionName.RETRY_READABLE: (retry_readable,),
    ConditionName.RETRY_WRITABLE: (retry_writable, accepted),
    ConditionName.RETRY_QUEUES: (retry_queues,),
    ConditionName.DLQ_READABLE: (dead_readable,),
}


def failing_groups(cluster: str | None, now: datetime) -> list[FailingGroup]:
    """Of user groups of one cluster, or of all: what is CRITICAL or a WARNING, and closed brokers; the worst first.

    The number of queries goes by brokers that are closed, not by groups. Left out are what concerns members (their
    settings, messages that expired) and consumeEnable: whoever set that knows.
    """
    named = {row.pk: row for row in Cluster.objects.all() if cluster in (None, row.name)}
    brokers = known_brokers(list(named), now)
    found = [row for pk, one in named.items() for row in closed_brokers(one.name, one.namesrv, brokers[pk])]
    single: dict[ConditionName, list[Suspect]] = {}
    for name, rows in suspects([broker for each in brokers.values() for broker in each], now).items():
        for pk, of_cluster in _by_cluster(rows).items():
            if len({row.group_id for row in of_cluster}) > MANY:
                found.append(_many(named[pk].name, name, of_cluster))
            else:
                single.setdefault(name, []).extend(of_cluster)
    found += _judged(single, {row.broker for row in found if row.broker}, now)
    return sorted(found, key=_place)


def _judged(single: dict[ConditionName, list[Suspect]], closed: set[str], now: datetime) -> list[FailingGroup]:
    """Suspects by the rules themselves. What a closed broker leads to is told with it."""
    wanted = {row.group_id for rows in single.values() for row in rows}
    groups = ConsumerGroup.objects.filter(pk__in=wanted).select_related("cluster")
    facts = {group.pk: one for group, one in zip(groups, facts_of(list(groups), now), strict=True)} if wanted else {}
    found: dict[tuple[int, ConditionName], FailingGroup] = {}
    for name, rows in single.items():
        for pk in {row.group_id for row in rows}:
            since = min(row.since for row in rows if row.group_id == pk)
            for rule in RULES[name]:
                condition = rule(facts[pk])
                if condition.is_failing and not (rule is accepted and closed & set(condition.brokers)):
                    found[pk, condition.name] = _row(facts[pk], condition, since)
    return list(found.values())


def _row(facts: GroupFacts, condition: Condition, since: datetime) -> FailingGroup:
    return FailingGroup(
        cluster=facts.cluster,
        group=facts.group,
        broker=condition.brokers[0] if len(condition.brokers) == 1 else None,
        groups=1,
        name=condition.name,
        severity=condition.severity,
        detail=condition.detail,
        cure=condition.cure,
        since=since,
    )


def _many(cluster: str, name: ConditionName, rows: Sequence[Suspect]) -> FailingGroup:
    severity, detail, cure = _words()[name]
    brokers, groups = {row.broker for row in rows}, {row.group for row in rows}
    words = {"n": count(len(groups)), "groups": ids(groups), "brokers": ids(brokers)}
    return FailingGroup(
        cluster=cluster,
        group=None,
        broker=brokers.pop() if len(brokers) == 1 else None,
        groups=len(groups),
        name=name,
        severity=severity,
        detail=detail % words,
        cure=cure,
        since=min(row.since for row in rows),
    )


def _words() -> dict[ConditionName, tuple[Severity, str, str]]:
    permission = gettext("“mqadmin updateTopicPerm” with -p 6 for each of the topics.")
    critical, warning = Severity.CRITICAL, Severity.WARNING
    return {
        ConditionName.KEPT: (
            critical,
            gettext(
                "Failed messages of %(n)s groups are silently discarded on %(brokers)s: retryQueueNums 0 (%(groups)s)."
            ),
            gettext("“mqadmin updateSubGroup” with -q 1 and each group's other values, which it sets too."),
        ),
        ConditionName.GROUP_EXISTS: (
            critical,
            gettext("%(n)s groups with members are not known on %(brokers)s, which has their topics (%(groups)s)."),
            gettext("“mqadmin updateSubGroup” for each of them, or autoCreateSubscriptionGroup."),
        ),
        ConditionName.RETRY_READABLE: (
            critical,
            gettext("Retry topics of %(n)s groups may not be read on %(brokers)s: nothing comes back (%(groups)s)."),
            permission,
        ),
        ConditionName.RETRY_WRITABLE: (
            warning,
            gettext("Retry topics of %(n)s groups may not be written on %(brokers)s (%(groups)s)."),
            permission,
        ),
        ConditionName.RETRY_QUEUES: (
            critical,
            gettext("Retry topics of %(n)s groups have fewer queues than retryQueueNums on %(brokers)s (%(groups)s)."),
            gettext("“mqadmin updateTopic” with -r and -w of retryQueueNums for each of the topics."),
        ),
        ConditionName.DLQ_READABLE: (
            warning,
            gettext("Dead-letter topics of %(n)s groups may not be read on %(brokers)s (%(groups)s)."),
            permission,
        ),
    }


def _by_cluster(rows: Sequence[Suspect]) -> dict[int, list[Suspect]]:
    found: dict[int, list[Suspect]] = {}
    for row in rows:
        found.setdefault(row.cluster_id, []).append(row)
    return found


def _place(row: FailingGroup) -> tuple[int, int, int, str, str]:
    names = list(ConditionName)
    return list(Severity).index(row.severity), names.index(row.name), -row.groups, row.cluster, row.group or ""
