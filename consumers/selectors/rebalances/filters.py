"""Which rebalances a list is of, in SQL. Without a join: a hundred thousand rows are counted out of an index."""

from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet

from consumers.models import ConsumerGroup, GroupKind, Rebalance
from consumers.vocabulary.causes import RebalanceCause

from .rows import RebalanceFilters

# No rebalance is longer: a group that never settles has one after the other.
LONGEST = timedelta(hours=1)


def filtered(filters: RebalanceFilters, *, by_cause: bool = True) -> QuerySet[Rebalance]:
    """Newest first; ties by group. Two queries: the groups first."""
    found = Rebalance.objects.filter(_of_groups(filters)).order_by("-started_before", "pk")
    if filters.since:
        found = found.filter(_since(filters))
    if filters.until:
        found = found.filter(started_before__lt=filters.until)
    if by_cause and filters.cause:
        # No word of a cause is part of another.
        found = found.filter(cause__contains=filters.cause)
    return found


def _of_groups(filters: RebalanceFilters) -> Q:
    groups = ConsumerGroup.objects.all()
    if filters.group:
        named = groups.filter(name=filters.group)
        return Q(group__in=_ids(named.filter(cluster__name=filters.cluster) if filters.cluster else named))
    own = ~Q(group__in=_ids(groups.filter(kind=GroupKind.SYSTEM)))
    return own & Q(group__in=groups.filter(cluster__name=filters.cluster).values("pk")) if filters.cluster else own


def _ids(groups: QuerySet[Any]) -> list[int]:
    return list(groups.values_list("pk", flat=True))


def _since(filters: RebalanceFilters) -> Q:
    begun = Q(started_before__gte=filters.since)
    if not filters.touching or filters.since is None:
        return begun
    near = Q(started_before__gte=filters.since - LONGEST)
    return near & (begun | Q(last_change_at__gte=filters.since))


def words_of(cause: str) -> tuple[str, ...]:
    """The single causes, the first to be named first."""
    return tuple(word.strip() for word in cause.split(",") if word.strip()) or (str(RebalanceCause.UNKNOWN),)
