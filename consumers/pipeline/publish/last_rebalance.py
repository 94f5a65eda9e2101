"""When each group's newest rebalance was seen, beside its state."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Max

from consumers.models import GroupState, Rebalance

# SQLite takes no more than some thousand parameters in one statement.
AT_ONCE = 500


def newest_rebalances(group_ids: Collection[int]) -> dict[int, datetime]:
    """By group id; groups without a rebalance are left out."""
    ordered = sorted(group_ids)
    found: dict[int, datetime] = {}
    for start in range(0, len(ordered), AT_ONCE):
        rows = Rebalance.objects.filter(group__in=ordered[start : start + AT_ONCE]).order_by()
        found.update(rows.values_list("group").annotate(newest=Max("started_before")))
    return found


def stamp_last_rebalance(group_ids: Collection[int]) -> None:
    """Writes it to the states of these groups, where it differs. Groups that were never judged have none to stamp."""
    newest = newest_rebalances(group_ids)
    ordered = sorted(group_ids)
    for start in range(0, len(ordered), AT_ONCE):
        states = GroupState.objects.filter(group__in=ordered[start : start + AT_ONCE]).only("last_rebalance_at")
        differing = [state for state in states if state.last_rebalance_at != newest.get(state.pk)]
        for state in differing:
            state.last_rebalance_at = newest.get(state.pk)
        GroupState.objects.bulk_update(differing, ["last_rebalance_at"])
