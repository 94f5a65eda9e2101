"""What is unknown is hatched over the whole height of a figure, and says why on hover; it never stands at zero."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from .points import Figure, on_axis

# The axis of the hatches, beside that of the values: it has no ticks, and goes from 0 to 1.
HATCH_AXIS: Figure = {"overlaying": "y", "visible": False, "range": [0, 1], "fixedrange": True}
HATCH: Figure = {
    "color": "rgba(0,0,0,0)",
    "line": {"width": 0},
    "pattern": {"shape": "/", "size": 6, "solidity": 0.18, "fgcolor": "var(--hatch)", "fillmode": "replace"},
}


def no_reason() -> str:
    return _("no reason recorded")


def hatched_windows(
    starts: Sequence[datetime], step: timedelta, is_unknown: Sequence[bool], reasons: Sequence[str | None]
) -> Figure:
    """A hatched column over each window that is unknown, on the axis `y2`."""
    gaps = [i for i, unknown in enumerate(is_unknown) if unknown]
    return {
        "type": "bar",
        "name": _("unknown"),
        "x": [on_axis(starts[i] + step / 2) for i in gaps],
        "y": [1] * len(gaps),
        "width": [step.total_seconds() * 1000] * len(gaps),
        "yaxis": "y2",
        "showlegend": False,
        "customdata": [reasons[i] or no_reason() for i in gaps],
        "hovertemplate": "%{customdata}",
        "marker": HATCH,
    }
