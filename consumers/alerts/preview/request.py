"""Where every preview begins: of which measures there is a past, and how far it reaches; the rule and the range are
checked, and a worker is left the work."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from consumers.alerts.measures.registry import SPECS
from consumers.alerts.queries.previews import unfinished_of
from consumers.alerts.refused import MAY_MANAGE, AlertRefused
from consumers.alerts.rules.rule_fields import checked_rule
from consumers.models import UNFINISHED_PREVIEWS, AlertRule, Measure, PreviewStatus, RulePreview
from consumers.pipeline.upkeep import kept_for

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
    said = {name: value for name, value in checked.items() if value is not None}
    with transaction.atomic():
        # Whoever asks twice at once asks one after the other.
        get_user_model().objects.select_for_update().get(pk=by.pk)
        if unfinished_of(by) is not None:
            raise AlertRefused({"": _("Another preview of yours is not done yet: wait for its end, or cancel it.")})
        return RulePreview.objects.create(
            rule=said, since=since, until=until, status=PreviewStatus.WAITING, by=by, created_at=now
        )


def earliest(measure: Measure, now: datetime) -> datetime:
    """How far back a range of it may begin."""
    return now - longest(measure, kept_for())


def _check_range(measure: Measure, since: datetime, until: datetime, now: datetime) -> None:
    if until > now:
        raise AlertRefused({"until": _("The range ends in the future.")})
    if until - since < SHORTEST:
        raise AlertRefused({"since": _("The range must be of five minutes at least.")})
    first = earliest(measure, now)
    if since < first - LEEWAY:
        words = {"measure": measure.value, "hours": f"{(now - first) / timedelta(hours=1):,.0f}"}
        raise AlertRefused({"since": _("Of %(measure)s the past %(hours)s hours are kept: begin later.") % words})


def why_no_history(measure: Measure, topic: str) -> str | None:
    """Null where a rule of it can be looked at over the past."""
    past = SPECS[measure].past
    if past is None:
        words = {"measure": measure.value, "known": ", ".join(one for one in SPECS if SPECS[one].past)}
        return _("Of %(measure)s nothing is kept but the newest value; a past is kept of %(known)s.") % words
    if topic and past.read_topic is None:
        known = [one for one, spec in SPECS.items() if spec.past and spec.past.read_topic]
        words = {"measure": measure.value, "known": ", ".join(known)}
        return _("By topic no past of %(measure)s is kept, but of %(known)s.") % words
    return None


def longest(measure: Measure, kept: Mapping[str, timedelta]) -> timedelta:
    """How far the past of a measure that has one reaches. `kept`: how long tables of the lake are retained."""
    past = SPECS[measure].past
    assert past is not None
    return kept[past.table]


def finest_seconds(age: timedelta, kept: Mapping[str, timedelta]) -> int:
    """Of windows that begin so long ago: those of a minute, while they are kept."""
    return 60 if age <= kept["windows_60"] else 600


# How a preview ends that no worker answers: given up by whoever may, or failed with a sentence.

TAKEN_UP_WITHIN = timedelta(minutes=5)
# A worker that is alive has given it up by then, or has ended itself.
ANSWERED_WITHIN = timedelta(minutes=3)
NOT_TAKEN_UP = "No worker took it up within 5 minutes: see that a Celery worker for the queue general runs."
NOT_ENDED = "The worker that had it ended, or does not answer: its log says why. Try again."


def why_not_permitted(preview: RulePreview, user: Any) -> str | None:
    """Null where `user` asked for it, or may manage alerts."""
    if preview.by_id == user.pk or user.has_perm(MAY_MANAGE):
        return None
    return _("A preview is cancelled by whoever asked for it, or with the permission %s.") % MAY_MANAGE


def cancel(preview: RulePreview, by: Any, now: datetime) -> None:
    """By whoever may. Raises AlertRefused where it has ended: then its end stays as it is."""
    unfinished = RulePreview.objects.filter(pk=preview.pk, status__in=UNFINISHED_PREVIEWS)
    given_up = {"status": PreviewStatus.CANCELLED, "finished_at": now, "cancelled_by_name": by.get_username()}
    if not unfinished.update(**given_up):
        preview.refresh_from_db()
        ended = preview.get_status_display().lower()
        raise AlertRefused(_("Only what waits or runs can be cancelled, and this preview is %s.") % ended)


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
