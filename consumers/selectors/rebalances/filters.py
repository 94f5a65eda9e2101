"""Which rebalances a list is of, in SQL."""

from datetime import timedelta

from django.db.models import Q, QuerySet

from consumers.models import GroupKind, Rebalance

from .rows import Cause, RebalanceFilters

# No rebalance is longer: a group that never settles has one after the other.
LONGEST = timedelta(hours=1)


def filtered(filters: RebalanceFilters, *, by_cause: bool = True) -> QuerySet[Rebalance]:
    """Newest first; ties by group."""
    found = Rebalance.objects.order_by("-started_before", "pk")
    if filters.cluster:
        found = found.filter(group__cluster__name=filters.cluster)
    found = found.filter(group__name=filters.group) if filters.group else found.filter(group__kind=GroupKind.USER)
    if filters.since:
        found = found.filter(_since(filters))
    if filters.until:
        found = found.filter(started_before__lt=filters.until)
    if by_cause and filters.cause:
        # No word of a cause is part of another.
        found = found.filter(cause__contains=filters.cause)
    return found


def _since(filters: RebalanceFilters) -> Q:
    begun = Q(started_before__gte=filters.since)
    if not filters.touching or filters.since is None:
        return begun
    near = Q(started_before__gte=filters.since - LONGEST)
    return near & (begun | Q(last_change_at__gte=filters.since))


def words_of(cause: str) -> tuple[str, ...]:
    """The single causes, the first to be named first."""
    return tuple(word.strip() for word in cause.split(",") if word.strip()) or (str(Cause.UNKNOWN),)
