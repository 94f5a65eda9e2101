"""Silences as rows: which hold, which will, and which are over."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from consumers.models import Incident, Silence

from .said import said
from .setting_rows import SilenceRow, SilenceStatus
from .words import selection_words

PLAIN = ("labels", "starts_at", "ends_at", "reason", "created_at")


def silence_list(
    now: datetime, *, status: SilenceStatus | None = None, page: int = 1, page_size: int = 100
) -> tuple[list[SilenceRow], int]:
    """The one that ends last first, and how many there are. Three queries."""
    found = Silence.objects.all() if status is None else Silence.objects.filter(_is(status, now))
    start = (page - 1) * page_size
    ordered = found.select_related("rule").order_by("-ends_at", "-pk")
    return _rows(ordered[start : start + page_size], now), found.count()


def find_silence(silence_id: int, now: datetime) -> SilenceRow | None:
    return next(iter(_rows(Silence.objects.select_related("rule").filter(pk=silence_id), now)), None)


def _is(status: SilenceStatus, now: datetime) -> Q:
    return {
        SilenceStatus.COMING: Q(starts_at__gt=now, ends_at__gt=now),
        SilenceStatus.ACTIVE: Q(starts_at__lte=now, ends_at__gt=now),
        SilenceStatus.PAST: Q(ends_at__lte=now),
    }[status]


def _rows(silences: "QuerySet[Silence]", now: datetime) -> list[SilenceRow]:
    found = list(silences)
    held = Incident.objects.filter(silence__in=[silence.pk for silence in found], resolved_at=None).order_by()
    counts = dict(held.values_list("silence").annotate(Count("pk")))
    return [_row(silence, counts.get(silence.pk, 0), now) for silence in found]


def _status(silence: Silence, now: datetime) -> SilenceStatus:
    if silence.ends_at <= now:
        return SilenceStatus.PAST
    return SilenceStatus.COMING if silence.starts_at > now else SilenceStatus.ACTIVE


def _row(silence: Silence, incidents: int, now: datetime) -> SilenceRow:
    selected = {name: getattr(silence, name) for name in ("cluster", "group_pattern", "topic")}
    rule_name = silence.rule.name if silence.rule else ""
    values: dict[str, Any] = {
        **selected,
        "rule": silence.rule_id,
        "rule_name": rule_name,
        "ended_by": silence.ended_by_name,
    }
    why = {
        "cluster": _("all clusters"),
        "group_pattern": _("all groups"),
        "topic": _("all topics"),
        **dict.fromkeys(("rule", "rule_name"), _("all rules")),
        "ended_by": _("nobody ended it early"),
    }
    return SilenceRow(
        id=silence.pk,
        status=_status(silence, now).value,
        **{name: getattr(silence, name) for name in PLAIN},
        selects=selection_words(**selected, rule=rule_name, labels=silence.labels),
        by=silence.by_name,
        incidents=incidents,
        **said(values, why),
    )
