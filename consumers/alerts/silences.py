"""Silences: created with a reason and an end, and ended early. The next evaluation assigns them to incidents."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.jobs.audit import note
from consumers.models import AlertRule, Silence

from . import fields as check
from .fields import EntryField, Shape, WrongValue, checked_fields, checks_of
from .refused import MAY_MANAGE, AlertRefused, why_no_role

LONGEST = timedelta(days=366)
# A form has whole minutes only.
ROUNDED = timedelta(minutes=1)
LONGEST_REASON = 2000


def _moment(value: Any) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise WrongValue(_("It is a time with its zone."))
    return value


def _rule(value: Any) -> AlertRule | None:
    if value is not None and not isinstance(value, AlertRule):
        raise WrongValue(_("It is a rule, or null for all rules."))
    return value


SILENCE_FIELDS = (
    check.CLUSTER_SCOPE,
    EntryField(
        name="group_pattern",
        label=gettext_lazy("Groups"),
        hint=gettext_lazy("a name, or a pattern with * and ?; empty: everything"),
        shape=Shape.SCOPE,
        check=check.pattern(255),
        default="",
        longest=255,
        help_text="With * and ?",
    ),
    EntryField(
        name="topic",
        label=gettext_lazy("Topic"),
        hint=gettext_lazy("only rules that name this topic; empty: all"),
        shape=Shape.SCOPE,
        check=check.topic,
        default="",
        longest=255,
    ),
    EntryField(name="rule", label=gettext_lazy("Rule"), shape=Shape.RULE, check=_rule, default=None),
    EntryField(
        name="labels",
        label=gettext_lazy("Labels"),
        hint=gettext_lazy("team=payments, one on each line; a group must bear them all"),
        shape=Shape.LABELS,
        check=check.labels,
        default={},
    ),
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
        hint=gettext_lazy("empty: at once; else 2026-03-14 06:00, in UTC"),
        shape=Shape.TIME,
        check=_moment,
        default=None,
        help_text="By default at once",
    ),
    EntryField(name="ends_at", shape=Shape.TIME, check=_moment),
    EntryField(
        name="reason",
        label=gettext_lazy("Reason"),
        hint=gettext_lazy("kept with the silence, for whoever wonders why nothing was told"),
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

    Raises AlertRefused, with a sentence for each invalid field.
    """
    if not by.has_perm(MAY_MANAGE):
        raise AlertRefused(why_no_role())
    values = _checked(fields, now)
    with transaction.atomic():
        silence = Silence.objects.create(**values, by=by, by_name=by.get_username(), created_at=now)
        note(silence, silence.reason, by, "Made the silence.", now)
    return silence


def end(silence: Silence, by: Any, now: datetime) -> None:
    """Ends the silence now, also before it has begun. Raises AlertRefused."""
    with transaction.atomic():
        if Silence.objects.select_for_update().filter(pk=silence.pk).first() is None:
            raise AlertRefused(_("It went with its rule, or is long over."))
        silence.refresh_from_db()
        if against := why_not_ended(silence, by, now):
            raise AlertRefused(against)
        silence.ends_at, silence.ended_by_name = now, by.get_username()
        silence.save(update_fields=["ends_at", "ended_by_name"])
        note(silence, silence.reason, by, "Ended the silence.", now)


def why_not_ended(silence: Silence, user: Any, now: datetime) -> str | None:
    """Null where `user` may end it."""
    if not user.has_perm(MAY_MANAGE):
        return why_no_role()
    if silence.ends_at <= now:
        return _("It is over since %s UTC.") % f"{silence.ends_at:%Y-%m-%d %H:%M}"
    return None


def _checked(fields: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    values, errors = checked_fields({"starts_at": now, "everything": False, **fields}, CHECKS)
    wanted = {"reason": _("Say why nobody is to be told."), "ends_at": _("Say until when: a silence has an end.")}
    errors |= {name: words for name, words in wanted.items() if fields.get(name) in (None, "")}
    if not errors:
        errors = _wrong_choice(values.pop("everything"), any(values[name] for name in SELECTS if name in values))
        errors |= _wrong_times(values["starts_at"], values["ends_at"], now)
    if errors:
        raise AlertRefused(errors)
    return values


def _wrong_choice(everything: bool, is_narrowed: bool) -> dict[str, str]:
    """A forgotten field must not silence the whole site."""
    if everything and is_narrowed:
        return {"everything": _("It silences everything, or what is named: choose one of the two.")}
    if not everything and not is_narrowed:
        return {
            "everything": _(
                "Nothing is named, so it would silence everything: name a cluster, groups, a topic, a rule or labels, "
                "or choose everything."
            )
        }
    return {}


def _wrong_times(starts_at: datetime, ends_at: datetime, now: datetime) -> dict[str, str]:
    if starts_at < now - ROUNDED:
        return {"starts_at": _("It begins now or later: what was told cannot be silenced any more.")}
    if ends_at <= max(starts_at, now):
        return {"ends_at": _("It ends after it begins, and in the future.")}
    if ends_at - now > LONGEST:
        return {"ends_at": _("It ends within a year: switch a rule off that nobody wants to hear of.")}
    return {}
