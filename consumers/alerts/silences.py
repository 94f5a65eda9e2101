"""Silences: created with a reason and an end, and ended early. The next evaluation assigns them to incidents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.text import format_lazy
from django.utils.translation import gettext as _, gettext_lazy

from consumers.jobs.acts import note
from consumers.jobs.permissions import check as check_permission
from consumers.models import AlertRule, ConsumerGroup, GroupKind, Incident, Silence, SubjectKind
from consumers.words.spans import when
from consumers.words.times import EXAMPLE_TIME

from . import fields as check
from .fields import (
    MAY_MANAGE,
    AlertRefused,
    EntryField,
    Shape,
    Words,
    WrongValue,
    checked_fields,
    checks_of,
    cluster_of,
)
from .measured import Subject
from .notes import Notes
from .rule_terms import Selection
from .weekly import Weekly, WrongWindow, windows

LONGEST = timedelta(days=366)
# A form has whole minutes only.
ROUNDED = timedelta(minutes=1)
LONGEST_REASON = 2000
SHOWN_WINDOWS = 5


def _moment(value: Any) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise WrongValue(_("Enter a time with a time zone."))
    return value


def _rule(value: Any) -> AlertRule | None:
    if value is not None and not isinstance(value, AlertRule):
        raise WrongValue(_("Enter a rule, or null for all rules."))
    return value


WEEKLY_SENTENCES: dict[str, Words] = {
    "days": gettext_lazy("Choose at least one day of the week."),
    "start": gettext_lazy("Enter the start of the window as 02:00."),
    "end": gettext_lazy("Enter the end of the window as 04:00."),
    "time_zone": gettext_lazy("Enter a time zone as Europe/Berlin, or UTC."),
}


def _weekly(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise WrongValue(_("Enter days, start, end and time_zone, or null."))
    try:
        return Weekly.of(value).stored()
    except WrongWindow as wrong:
        raise WrongValue(str(WEEKLY_SENTENCES[wrong.field])) from None


SILENCE_FIELDS = (
    check.CLUSTER_SCOPE,
    check.group_scope(gettext_lazy("a name, or a pattern with * and ?; empty: everything")),
    check.topic_scope(gettext_lazy("only rules for this topic; empty: all")),
    EntryField(name="rule", label=gettext_lazy("Rule"), shape=Shape.RULE, check=_rule, default=None),
    check.labels_field(gettext_lazy("team=payments, one per line; a group must have all of them")),
    EntryField(
        name="everything",
        label=gettext_lazy("Everything"),
        hint=gettext_lazy("the whole site, with all fields above empty"),
        shape=Shape.TRUTH,
        check=check.truth,
        default=False,
        help_text="true: it silences the whole site",
    ),
    EntryField(
        name="starts_at",
        label=gettext_lazy("From"),
        hint=format_lazy(
            gettext_lazy("empty: at once; else {example} (UTC, unless it names a zone)"),
            example=EXAMPLE_TIME,
        ),
        shape=Shape.TIME,
        check=_moment,
        default=None,
        help_text="By default at once",
    ),
    EntryField(name="ends_at", shape=Shape.TIME, check=_moment),
    EntryField(
        name="weekly",
        shape=Shape.WEEKLY,
        check=_weekly,
        default=None,
        help_text="Active only in these windows, from the start to the end; null: without a break",
    ),
    EntryField(
        name="reason",
        label=gettext_lazy("Reason"),
        hint=gettext_lazy("shown with the silence: why notifications are suppressed"),
        shape=Shape.TEXT,
        check=check.text(LONGEST_REASON, required=True),
        longest=LONGEST_REASON,
    ),
)
CHECKS = checks_of(SILENCE_FIELDS)
# The fields that narrow a silence.
SELECTS = ("cluster", "group_pattern", "topic", "rule", "labels")


def make(fields: Mapping[str, Any], by: Any, now: datetime) -> Silence:
    """`fields`: reason, ends_at, and any of starts_at, cluster, group_pattern, topic, rule (a row), labels; or
    `everything`, true, where none of these narrows it.

    Raises AlertRefused, with a sentence for each invalid field; and PermissionDenied where `by` may not manage alerts
    of the cluster, or of all clusters where it may cover several.
    """
    values = _checked(fields, now)
    check_permission(by, MAY_MANAGE, cluster_of(values.get("cluster", "")))
    with transaction.atomic():
        silence = Silence.objects.create(**values, by=by, by_name=by.get_username(), created_at=now)
        note(silence, silence.reason, by, "Made the silence.", now)
    return silence


@dataclass(frozen=True)
class SilenceMatch:
    """What a silence would suppress by what is known now. `incidents`: open ones."""

    groups: int
    incidents: Sequence[Incident]
    windows: Sequence[tuple[datetime, datetime]]


def matched(fields: Mapping[str, Any], now: datetime) -> SilenceMatch:
    """Of `fields` as of `make`. Nothing is stored. Raises AlertRefused. Three queries."""
    silence = Silence(**_checked(fields, now))
    selection, notes = Selection.of(silence), Notes.of_site()
    kind = SubjectKind.TOPIC if silence.topic else SubjectKind.GROUP
    rows = ConsumerGroup.objects.filter(kind=GroupKind.USER).values_list("cluster__name", "name")
    groups = [Subject(kind, cluster=cluster, group=name, topic=silence.topic) for cluster, name in rows]
    return SilenceMatch(
        groups=sum(selection.takes(group, notes.said(group).labels) for group in groups),
        incidents=[
            one
            for one in Incident.objects.filter(resolved_at=None).order_by("-started_at")
            if silence.rule_id in (None, one.rule_id) and selection.takes(Subject.of_incident(one), one.labels)
        ],
        windows=windows(silence, now, SHOWN_WINDOWS),
    )


def end(silence: Silence, by: Any, now: datetime) -> None:
    """Ends the silence now, also before it has begun. Raises AlertRefused, and PermissionDenied as `make`."""
    check_permission(by, MAY_MANAGE, cluster_of(silence.cluster))
    with transaction.atomic():
        if Silence.objects.select_for_update().filter(pk=silence.pk).first() is None:
            raise AlertRefused(_("The silence no longer exists: it was removed with its rule, or expired long ago."))
        silence.refresh_from_db()
        if against := _why_over(silence, now):
            raise AlertRefused(against)
        silence.ends_at, silence.ended_by_name = now, by.get_username()
        silence.save(update_fields=["ends_at", "ended_by_name"])
        note(silence, silence.reason, by, "Ended the silence.", now)


def _why_over(silence: Silence, now: datetime) -> str | None:
    if silence.ends_at <= now:
        return _("The silence ended at %s.") % when(silence.ends_at)
    return None


def _checked(fields: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    values, errors = checked_fields({"starts_at": now, "everything": False, "weekly": None, **fields}, CHECKS)
    wanted = {"reason": _("Enter the reason for the silence."), "ends_at": _("Enter an end: every silence has one.")}
    errors |= {name: words for name, words in wanted.items() if fields.get(name) in (None, "")}
    if not errors:
        errors = _wrong_choice(values.pop("everything"), any(values[name] for name in SELECTS if name in values))
        errors |= _wrong_times(values["starts_at"], values["ends_at"], now)
        if not errors and not windows(Silence(**values), now, 1):
            errors["weekly"] = _("No such window lies between the start and the end.")
    if errors:
        raise AlertRefused(errors)
    return values


def _wrong_choice(everything: bool, is_narrowed: bool) -> dict[str, str]:
    """A forgotten field must not silence the whole site."""
    if everything and is_narrowed:
        return {"everything": _("Choose either everything or a selection, not both.")}
    if not everything and not is_narrowed:
        return {
            "everything": _(
                "Without a selection, the silence covers the whole site: select a cluster, groups, a topic, a "
                "rule or labels, or choose everything."
            )
        }
    return {}


def _wrong_times(starts_at: datetime, ends_at: datetime, now: datetime) -> dict[str, str]:
    if starts_at < now - ROUNDED:
        return {"starts_at": _("Choose a start that is not in the past: sent notifications cannot be suppressed.")}
    if ends_at <= max(starts_at, now):
        return {"ends_at": _("Choose an end in the future and after the start.")}
    if ends_at - now > LONGEST:
        return {"ends_at": _("Choose an end within a year. To stop a rule for good, disable it.")}
    return {}
