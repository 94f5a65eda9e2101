"""Groups with how many incidents of them are open, as the newest evaluation of the rules left them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, Subquery

from consumers.models import AlertEngine, GroupKind, Incident, IncidentStatus, Severity
from consumers.polling.flags import ghosts
from consumers.selectors.alerts.evaluated import newest_evaluation
from consumers.vocabulary.groups import Flag

from .overlay import Overlay
from .rows import IncidentCounts
from .shown import ShownGroup

TOO_YOUNG = "it was first seen after alert rules were last evaluated"


def with_incidents(shown: Sequence[ShownGroup], now: datetime) -> list[ShownGroup]:
    """In their order. Two queries; what leaves many groups unknown has an incident of its own, and none of theirs."""
    evaluated = newest_evaluation(now)
    if isinstance(evaluated, str):
        return [replace(one, incidents=evaluated) for one in shown]
    counts = _counts([one.group.pk for one in shown])
    return [replace(one, incidents=counts.get(one.group.pk) or _none(one, evaluated)) for one in shown]


def fires() -> Exists:
    """Of a group: one of its incidents does."""
    return Exists(Incident.objects.filter(group=OuterRef("pk"), resolved_at=None, status=IncidentStatus.FIRING))


def are_looked_at(overlay: Overlay) -> Q:
    """Groups of which the newest evaluation says whether one fires."""
    evaluated_at = AlertEngine.objects.order_by("pk").values("evaluated_at")[:1]
    is_there = Q(kind=GroupKind.USER, first_seen_at__lte=Subquery(evaluated_at))
    return is_there & ~ghosts(overlay.now, overlay.limits.kinds)


def _counts(ids: Iterable[int]) -> dict[int, IncidentCounts]:
    """By the group's id; those without an open one are not in it."""
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows = Incident.objects.filter(group__in=ids, resolved_at=None).order_by()
    for group, status, severity, number in rows.values_list("group", "status", "severity").annotate(Count("pk")):
        found[group][status] += number
        if status == IncidentStatus.FIRING:
            found[group][severity] += number
    named = (IncidentStatus.FIRING, Severity.CRITICAL, Severity.WARNING, Severity.INFO, IncidentStatus.PENDING)
    return {group: IncidentCounts(**{name.value: counts[name] for name in named}) for group, counts in found.items()}


def _none(one: ShownGroup, evaluated: datetime) -> IncidentCounts | str:
    """Of a group without one: that there is none, or why no rule would have found any."""
    if one.group.kind == GroupKind.SYSTEM:
        return "rules look at no system group"
    # Only who is offline may be a ghost: all flags of all rows would be asked for twice.
    if one.group.offline_since is not None and Flag.GHOST in one.flags:
        return "rules look at no ghost"
    return TOO_YOUNG if one.group.first_seen_at > evaluated else IncidentCounts(0, 0, 0, 0, 0)
