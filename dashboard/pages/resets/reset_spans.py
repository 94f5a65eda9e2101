"""Resets of a group as bands on the time axis of its figures, and in words."""

from django.utils.translation import gettext as _

from consumers.models import ResetStatus
from consumers.queries.reset_marks import ResetMark, reset_marks
from dashboard.figures.points import RESET, Span
from dashboard.pages.common.ranges import Range
from dashboard.wording.resets import STATUSES, destination
from dashboard.wording.times import clock


def reset_spans(cluster: str, group: str, shown: Range) -> list[Span]:
    found = reset_marks(cluster=cluster, group=group, since=shown.since, until=shown.until)
    return [
        Span(
            mark.since,
            mark.until or shown.until,
            f"{clock(mark.since, shown.until)} UTC · {reset_words(mark)}",
            RESET,
        )
        for mark in found
    ]


def reset_words(mark: ResetMark) -> str:
    """`reset by ann, applied: to offset 40 (orders were lost)`."""
    words = {"by": mark.by, "status": STATUSES[ResetStatus(mark.status)], "reason": mark.reason}
    return _("reset by %(by)s, %(status)s: %(where)s (%(reason)s)") % {
        **words,
        "where": destination(mark.kind, mark.value),
    }
