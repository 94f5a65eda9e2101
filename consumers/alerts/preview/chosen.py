"""Which subjects a rule selects, and what of the rule counts for each: as rules, notes and rows stand at the moment.

Who was there in the past, and what was said of whom then, is not kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Min

from consumers.alerts.measures.registry import SPECS
from consumers.alerts.notes import Notes
from consumers.alerts.rules.selection import Selection
from consumers.alerts.rules.terms import RuleTerms, Terms
from consumers.alerts.subjects import SITE, Subject
from consumers.models import AlertRule, Broker, Cluster, ConsumerGroup, GroupKind, Measure, QueueSnapshot, SubjectKind
from consumers.polling.flags import ghosts
from consumers.queries.limits import limits

# All brokers of a cluster have been read for the first time by then.
FIRST_READ = timedelta(minutes=2)


@dataclass(frozen=True)
class Chosen:
    """`first_seen[i]`: since when there is something of `subjects[i]` to know.

    Null where nobody can say that it was not there before: a group that was found when its cluster was read first.
    """

    subjects: Sequence[Subject]
    terms: Sequence[Terms]
    first_seen: Sequence[datetime | None]

    def places_of_groups(self) -> dict[int, int]:
        return {one.group_id: place for place, one in enumerate(self.subjects) if one.group_id is not None}

    def places(self) -> dict[tuple[str, str], int]:
        """By cluster and broker; names that a subject does not have are empty."""
        return {(one.cluster, one.broker): place for place, one in enumerate(self.subjects)}


def chosen(rule: AlertRule, now: datetime) -> Chosen:
    """Those of the rule's measure that it selects and is not switched off for. Four queries at most."""
    selection, terms, notes = Selection.of(rule), RuleTerms.of(rule), Notes.of_site()
    found = [
        (subject, own, first_seen)
        for subject, first_seen in _subjects(rule, now)
        if selection.takes(subject, notes.said(subject).labels) and (own := terms.terms(subject)) is not None
    ]
    return Chosen([row[0] for row in found], [row[1] for row in found], [row[2] for row in found])


def _subjects(rule: AlertRule, now: datetime) -> Iterator[tuple[Subject, datetime | None]]:
    kind = SPECS[Measure(rule.measure)].subject
    if kind == SubjectKind.SITE:
        yield SITE, None
    elif kind == SubjectKind.CLUSTER:
        for name, created_at in Cluster.objects.values_list("name", "created_at"):
            yield Subject(kind, cluster=name), created_at
    elif kind == SubjectKind.BROKER:
        for cluster, name in Broker.objects.order_by().values_list("cluster__name", "name").distinct():
            yield Subject(kind, cluster=cluster, broker=name), None
    elif rule.topic:
        yield from _parts_of(rule.topic, now)
    else:
        for row in _user_groups(now):
            yield Subject(kind, cluster=row[0], group=row[1], group_id=row[2]), row[3]


def _user_groups(now: datetime) -> Iterator[tuple[str, str, int, datetime | None]]:
    """Of those that rules look at: no ghosts."""
    rows = (
        ConsumerGroup.objects.filter(kind=GroupKind.USER)
        .exclude(ghosts(now, limits().kinds))
        .order_by("cluster__name", "name")
    )
    firsts = ConsumerGroup.objects.order_by().values("cluster__name").annotate(first=Min("first_seen_at"))
    first_read = dict(firsts.values_list("cluster__name", "first"))
    for cluster, name, pk, first_seen in rows.values_list("cluster__name", "name", "pk", "first_seen_at"):
        yield cluster, name, pk, None if first_seen <= first_read[cluster] + FIRST_READ else first_seen


def _parts_of(topic: str, now: datetime) -> Iterator[tuple[Subject, datetime | None]]:
    with_it = QueueSnapshot.objects.filter(queue__topic__name=topic).order_by()
    known = set(with_it.values_list("group", flat=True).distinct())
    for cluster, group, pk, first_seen in _user_groups(now):
        if pk in known:
            yield Subject(SubjectKind.TOPIC, cluster=cluster, group=group, topic=topic, group_id=pk), first_seen
