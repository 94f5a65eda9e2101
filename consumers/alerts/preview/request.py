"""Where every preview begins: of which measures there is a past, and how far it reaches; the rule and the range are
checked, and a worker is left the work.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Min, Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from consumers.alerts.fields import MAY_MANAGE, AlertRefused
from consumers.alerts.measured import SITE, Subject
from consumers.alerts.measures.registry import SPECS
from consumers.alerts.notes import Notes
from consumers.alerts.queries.previews import unfinished_of
from consumers.alerts.rule_fields import checked_rule
from consumers.alerts.rule_terms import RuleTerms, Selection, Terms
from consumers.models import (
    UNFINISHED_PREVIEWS,
    AlertRule,
    Broker,
    Cluster,
    ConsumerGroup,
    GroupKind,
    Measure,
    PreviewStatus,
    QueueSnapshot,
    RulePreview,
    SubjectKind,
)
from consumers.pipeline.upkeep import retentions
from consumers.polling.flags import ghosts
from consumers.queries.limits import limits

SHORTEST = timedelta(minutes=5)
# What was asked for is asked for a little later than it was meant: the oldest minute may be gone by then.
LEEWAY = timedelta(minutes=10)


def request_preview(
    fields: Mapping[str, Any], since: datetime, until: datetime, by: Any, now: datetime, rule: AlertRule | None = None
) -> RulePreview:
    """A preview that waits for a worker: hand it over. Raises AlertRefused, also where a range is wrong.

    `fields` as for a rule that is to be kept; what they leave out is as in `rule`. A name is not needed, and need not
    be free.
    """
    fail_forgotten(now)
    checked = checked_rule({**fields, "name": uuid.uuid4().hex}, rule)
    checked["name"] = str(fields.get("name") or (rule.name if rule else ""))
    if against := why_no_history(Measure(checked["measure"]), checked["topic"]):
        raise AlertRefused({"measure": against})
    _check_range(Measure(checked["measure"]), since, until, now)
    # What is not compared, and has no second threshold, says so by its absence.
    given = {name: value for name, value in checked.items() if value is not None}
    with transaction.atomic():
        # Whoever asks twice at once asks one after the other.
        get_user_model().objects.select_for_update().get(pk=by.pk)
        if unfinished_of(by) is not None:
            raise AlertRefused({"": _("Another preview of yours has not finished: wait for it, or cancel it.")})
        return RulePreview.objects.create(
            rule=given, since=since, until=until, status=PreviewStatus.WAITING, by=by, created_at=now
        )


def earliest(measure: Measure, now: datetime) -> datetime:
    """How far back a range of it may begin."""
    return now - longest(measure, retentions())


def _check_range(measure: Measure, since: datetime, until: datetime, now: datetime) -> None:
    if until > now:
        raise AlertRefused({"until": _("The range ends in the future: choose an earlier end.")})
    if until - since < SHORTEST:
        raise AlertRefused({"since": _("The range is too short: choose at least 5 minutes.")})
    first = earliest(measure, now)
    if since < first - LEEWAY:
        words = {"measure": measure.value, "hours": f"{(now - first) / timedelta(hours=1):,.0f}"}
        raise AlertRefused({"since": _("%(measure)s is retained for %(hours)s hours: choose a later start.") % words})


def why_no_history(measure: Measure, topic: str) -> str | None:
    """Returns None where a rule with this measure can be replayed over the past."""
    past = SPECS[measure].past
    if past is None:
        words = {"measure": measure.value, "known": ", ".join(one for one in SPECS if SPECS[one].past)}
        return _("%(measure)s has no history; these have: %(known)s.") % words
    if topic and past.read_topic is None:
        known = [one for one, spec in SPECS.items() if spec.past and spec.past.read_topic]
        words = {"measure": measure.value, "known": ", ".join(known)}
        return _("%(measure)s has no history by topic; these have: %(known)s.") % words
    return None


def longest(measure: Measure, retained: Mapping[str, timedelta]) -> timedelta:
    """How far the past of a measure that has one reaches. `retained`: how long tables of the lake are retained."""
    past = SPECS[measure].past
    assert past is not None
    return retained[past.table]


def finest_seconds(age: timedelta, retained: Mapping[str, timedelta]) -> int:
    """Of windows that begin so long ago: those of a minute, while they are kept."""
    return 60 if age <= retained["windows_60"] else 600


# How a preview ends that no worker answers: given up by whoever may, or failed with a sentence.

TAKEN_UP_WITHIN = timedelta(minutes=5)
# A worker that is alive has given it up by then, or has ended itself.
ANSWERED_WITHIN = timedelta(minutes=3)
NOT_TAKEN_UP = "No worker started the preview in 5 minutes: check that a Celery worker for the queue general runs."
NOT_ENDED = "The worker that ran the preview ended or does not respond: check its log, and try again."


def why_not_permitted(preview: RulePreview, user: Any) -> str | None:
    """Null where `user` asked for it, or may manage alerts."""
    if preview.by_id == user.pk or user.has_perm(MAY_MANAGE):
        return None
    return _("Only the user who requested a preview can cancel it, or a user with the permission %s.") % MAY_MANAGE


def cancel(preview: RulePreview, by: Any, now: datetime) -> None:
    """Cancels a preview for a user who is permitted to. Raises AlertRefused where the preview has ended: its result
    stays."""
    unfinished = RulePreview.objects.filter(pk=preview.pk, status__in=UNFINISHED_PREVIEWS)
    given_up = {"status": PreviewStatus.CANCELLED, "finished_at": now, "cancelled_by_name": by.get_username()}
    if not unfinished.update(**given_up):
        preview.refresh_from_db()
        ended = preview.get_status_display().lower()
        raise AlertRefused(_("Only a waiting or running preview can be cancelled: this one is %s.") % ended)


def is_cancelled(preview_id: Any) -> bool:
    return RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.CANCELLED).exists()


def fail_forgotten(now: datetime) -> int:
    """How many there were."""
    waiting = Q(status=PreviewStatus.WAITING, created_at__lt=now - TAKEN_UP_WITHIN)
    running = Q(status=PreviewStatus.RUNNING, began_at__lt=now - ANSWERED_WITHIN)
    previews = RulePreview.objects.alias(began_at=Coalesce("started_at", "created_at"))
    return sum(
        previews.filter(which).update(status=PreviewStatus.FAILED, error=error, finished_at=now)
        for which, error in ((waiting, NOT_TAKEN_UP), (running, NOT_ENDED))
    )


def fail_waiting(preview_id: UUID, error: str, now: datetime) -> None:
    """One that nobody can be told of. Nothing where it is taken up by now."""
    waiting = RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.WAITING)
    waiting.update(status=PreviewStatus.FAILED, error=error, finished_at=now)


# Which subjects a rule selects, and what of the rule counts for each: as rules, notes and rows stand at the moment.
#
# Who was there in the past, and what was said of whom then, is not kept.

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
    spec = SPECS[Measure(rule.measure)]
    kind = spec.subject
    if SubjectKind.SITE in spec.reads:
        yield SITE, None
    if kind == SubjectKind.SITE:
        return
    if kind == SubjectKind.CLUSTER:
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
