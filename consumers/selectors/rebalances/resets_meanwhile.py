"""Resets from here that went on while a rebalance began that nothing else explains. Told at reading, kept nowhere.

A member that follows a moved offset drops the queue and takes it anew (5.4.0, DefaultMQPushConsumerImpl).
"""

from collections.abc import Collection
from datetime import datetime

from consumers.models import Rebalance
from consumers.selectors.resets.marks import went_on_since
from consumers.vocabulary.causes import RebalanceCause

from .filters import words_of

COLUMNS = ("group_id", "started_at", "finished_at", "applied_by_name", "by_name", "reason")


def name_resets(rows: Collection[Rebalance]) -> None:
    """Adds `reset` to the evidence of those whose cause is not known, unsaved. One query, none without such a one."""
    open_ones = [row for row in rows if words_of(row.cause) == (str(RebalanceCause.UNKNOWN),)]
    if not open_ones:
        return
    resets = _resets({row.group_id for row in open_ones}, min(_began(row) for row in open_ones))
    for row in open_ones:
        meanwhile = [words for group, since, until, words in resets if _meets(row, group, since, until)]
        if meanwhile:
            row.evidence = [
                {**found, "reset": meanwhile[0]} for found in row.evidence or [{"cause": RebalanceCause.UNKNOWN.value}]
            ]


def _resets(groups: set[int], since: datetime) -> list[tuple[int, datetime, datetime | None, str]]:
    """The newest first."""
    rows = went_on_since(since).filter(group__in=groups).order_by("-started_at")
    return [
        (group, begun, ended, f"{applied_by or by}, {begun:%H:%M:%S} UTC ({reason})")
        for group, begun, ended, applied_by, by, reason in rows.values_list(*COLUMNS)
    ]


def _began(row: Rebalance) -> datetime:
    return row.started_after or row.started_before


def _meets(row: Rebalance, group: int, since: datetime, until: datetime | None) -> bool:
    return row.group_id == group and since <= row.started_before and (until is None or until >= _began(row))
