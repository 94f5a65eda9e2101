"""Rebalances of a group as bands on the time axis of its figures."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consumers.rebalances.events import rebalance_counts
from consumers.rebalances.marks import Mark, rebalance_marks
from consumers.rebalances.rows import RebalanceFilters
from consumers.words.causes import cause_words
from dashboard.figures.points import Span
from dashboard.pages.common.ranges import Range
from dashboard.wording.times import clock


def rebalance_spans(cluster: str, group: str, shown: Range) -> list[Span]:
    found = rebalance_marks(
        RebalanceFilters(cluster=cluster, group=group, since=shown.since, until=shown.until, touching=True)
    )
    return [
        Span(mark.since, mark.until, f"{clock(mark.since, shown.until)} UTC · {mark_words(mark)}") for mark in found
    ]


def mark_words(mark: Mark) -> str:
    """`rebalance: joined`, `rollout: 7 rebalances`, `14 rebalances in 1 episode`, `flapping: 14 rebalances in 8
    episodes`."""
    many = ngettext("%(n)s rebalance", "%(n)s rebalances", mark.rebalances) % {"n": mark.rebalances}
    if mark.episodes > 1:
        return _("flapping: %s") % rebalance_counts(mark.rebalances, mark.episodes)
    if mark.rollout:
        return _("rollout: %s") % many
    if mark.rebalances > 1:
        return rebalance_counts(mark.rebalances, mark.episodes)
    return _("rebalance: %s") % ", ".join(cause_words(cause) for cause in mark.causes)
