"""Rules as rows, with what fires by them."""

from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.utils.translation import gettext as _

from consumers.models import AlertRule, Comparison, Incident, IncidentStatus

from .evaluated import newest_evaluation
from .said import said
from .setting_rows import RuleRow
from .words import rule_words, selection_words

PLAIN = ("name", "enabled", "measure", "comparison", "for_seconds", "clear_seconds", "severity", "labels", "overrides")
MAY_BE_NULL = (
    *("key", "threshold", "states", "clear_threshold"),
    *("cluster", "group_pattern", "topic", "runbook_url", "note"),
)


def rule_list(
    now: datetime,
    *,
    enabled: bool | None = None,
    severity: str | None = None,
    measure: str | None = None,
    page: int = 1,
    page_size: int = 100,
) -> tuple[list[RuleRow], int]:
    """In order of their names, and how many there are. Five queries."""
    named = {"enabled": enabled, "severity": severity, "measure": measure}
    found = AlertRule.objects.filter(**{name: value for name, value in named.items() if value is not None})
    start = (page - 1) * page_size
    return _rows(list(found.order_by("name")[start : start + page_size]), now), found.count()


def find_rule(rule_id: int, now: datetime) -> RuleRow | None:
    return next(iter(_rows(list(AlertRule.objects.filter(pk=rule_id)), now)), None)


def _rows(rules: list[AlertRule], now: datetime) -> list[RuleRow]:
    evaluated, open_ones = newest_evaluation(now), _open_ones([rule.pk for rule in rules])
    return [_row(rule, open_ones[rule.pk], evaluated) for rule in rules]


def _open_ones(ids: list[int]) -> dict[int, dict[str, int]]:
    counted = Incident.objects.filter(rule__in=ids, resolved_at=None).values_list("rule", "status").order_by()
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for rule, status, number in counted.annotate(Count("pk")):
        found[rule][status] = number
    return found


def _row(rule: AlertRule, counts: dict[str, int], evaluated: datetime | str) -> RuleRow:
    """`evaluated`: when all were, or why that is not known."""
    uncounted = _uncounted(rule, counts, evaluated)
    values: dict[str, Any] = {name: getattr(rule, name) for name in MAY_BE_NULL}
    values |= {
        "firing": None if uncounted else counts.get(IncidentStatus.FIRING, 0),
        "pending": None if uncounted else counts.get(IncidentStatus.PENDING, 0),
        "changed_by": rule.changed_by_name,
    }
    by_states = rule.comparison == Comparison.IN
    why = {
        "key": _("the site did not come with it: it was made here"),
        "threshold": _("states are compared"),
        "states": _("a number is compared"),
        "clear_threshold": _("states are compared") if by_states else _("it is the threshold itself"),
        "cluster": _("all clusters"),
        "group_pattern": _("all groups"),
        "topic": _("all topics of a group together"),
        "runbook_url": _("none is given"),
        "note": _("nothing is said"),
        **dict.fromkeys(("firing", "pending"), uncounted),
        "changed_by": _("nobody has changed it: the site came with it"),
    }
    return RuleRow(
        id=rule.pk,
        is_default=rule.key is not None,
        **{name: getattr(rule, name) for name in PLAIN},
        sentence=rule_words(rule),
        selects=selection_words(
            cluster=rule.cluster, group_pattern=rule.group_pattern, topic=rule.topic, labels=rule.labels
        ),
        changed_at=rule.changed_at,
        **said(values, why),
    )


def _uncounted(rule: AlertRule, counts: dict[str, int], evaluated: datetime | str) -> str:
    """Why its incidents cannot be counted; "" where they can."""
    if not rule.enabled:
        return _("it is switched off")
    if isinstance(evaluated, str):
        return evaluated
    return _("it was changed after the newest evaluation") if not counts and rule.changed_at > evaluated else ""
