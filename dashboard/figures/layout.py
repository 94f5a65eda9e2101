"""What all figures share. Colours are names of variables.css; the browser fills them in for the theme in use."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from .points import Change, Figure, on_axis

CONFIG = {"displayModeBar": False, "responsive": True, "doubleClick": "reset", "showTips": False}
INK, QUIET, RULE, PAPER = "var(--ink)", "var(--ink-quiet)", "var(--rule)", "var(--paper)"
# All figures of a page share their time axis, so that one moment stands under the other.
LEFT = 104
AXIS: dict[str, Any] = {
    "showline": True,
    "linecolor": "var(--rule-strong)",
    "gridcolor": RULE,
    "zeroline": False,
    "ticks": "outside",
    "ticklen": 4,
    "tickcolor": "var(--rule-strong)",
    "tickfont": {"color": QUIET},
}


def figure(traces: list[Figure], since: datetime, until: datetime, changes: Sequence[Change], **layout: Any) -> Figure:
    """A Plotly figure over [since, until], with the changes of state marked on its time axis."""
    shapes, annotations = _marks([change for change in changes if since <= change.at <= until])
    return {
        "data": traces,
        "layout": {
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": INK},
            "paper_bgcolor": PAPER,
            "plot_bgcolor": PAPER,
            "margin": {"l": LEFT, "r": 14, "t": 22, "b": 42},
            "hoverlabel": {"bgcolor": PAPER, "bordercolor": "var(--rule-strong)", "font": {"color": INK, "size": 12}},
            "showlegend": False,
            # Zoom and hidden lines outlive a refresh for as long as this stays the same.
            "uirevision": "kept",
            "shapes": shapes,
            "annotations": annotations,
            "xaxis": {**AXIS, "type": "date", "range": [on_axis(since), on_axis(until)], "showgrid": False},
            **layout,
        },
        "config": CONFIG,
    }


def _marks(changes: Sequence[Change]) -> tuple[list[Figure], list[Figure]]:
    shapes = [
        {
            "type": "line",
            "xref": "x",
            "yref": "paper",
            "x0": on_axis(change.at),
            "x1": on_axis(change.at),
            "y0": 0,
            "y1": 1,
            "line": {"color": f"var(--state-{change.state.lower()})", "width": 1, "dash": "dot"},
        }
        for change in changes
    ]
    annotations = [
        {
            "x": on_axis(change.at),
            "y": 1,
            "xref": "x",
            "yref": "paper",
            "yanchor": "bottom",
            "showarrow": False,
            "text": change.state,
            "hovertext": change.text,
            "font": {"color": f"var(--state-{change.state.lower()})", "size": 10},
        }
        for change in changes
    ]
    return shapes, annotations
