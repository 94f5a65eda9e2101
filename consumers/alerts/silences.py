"""Silences: made with a reason and an end, and ended early. The next evaluation puts them on the incidents."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from consumers.jobs.audit import note
from consumers.models import AlertRule, Silence

from .permission import MAY_MANAGE, why_no_role
from .refused import AlertRefused
from .rules import fields as check
from .rules.refused import Check, WrongValue, checked_fields

LONGEST = timedelta(days=366)
# A form tells whole minutes.
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


CHECKS: dict[str, Check] = {
    "cluster": check.pattern(100),
    "group_pattern": check.pattern(255),
    "topic": check.topic,
    "rule": _rule,
    "labels": check.labels,
    "everything": check.truth,
    "starts_at": _moment,
    "ends_at": _moment,
    "reason": check.text(LONGEST_REASON, required=True),
}
# What narrows a silence.
SELECTS = ("cluster", "group_pattern", "topic", "rule", "labels")


def make(fields: Mapping[str, Any], by: Any, now: datetime) -> Silence:
    """`fields`: reason, ends_at, and any of starts_at, cluster, group_pattern, topic, rule (a row), labels; or
    `everything`, true, where none of these narrows it.

    Raises AlertRefused, with a sentence for each field that is wrong.
    """
    if not by.has_perm(MAY_MANAGE):
        raise AlertRefused(why_no_role())
    values = _checked(fields, now)
    with transaction.atomic():
        silence = Silence.objects.create(**values, by=by, by_name=by.get_username(), created_at=now)
        note(silence, silence.reason, by, "Made the silence.", now)
    return silence


def end(silence: Silence, by: Any, now: datetime) -> None:
    """Now, or before it has begun. Raises AlertRefused."""
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
    """A field that was forgotten must not silence the whole site."""
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
