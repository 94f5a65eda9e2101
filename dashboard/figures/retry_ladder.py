"""The retry backlog by delay level: messages of all groups, and this group's share of a sample. Two panels with an axis
each: one counts messages, the other shows the sample."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _, ngettext

from consumers.retries.broker_levels import LATE_SECONDS
from consumers.retries.ladder_rows import Ladder, LadderRung, SampledRung
from dashboard.wording.numbers import count, duration, zoned

from .layout import AXIS, HATCH, QUIET, RULE, Figure, no_reason, plain_figure

ROW_PIXELS, MARGIN_PIXELS, LEFT_PIXELS = 21, 64, 148
PANELS = ([0, 0.47], [0.53, 1])
# Behind the longest bar stands what it says.
ROOM_FOR_TEXT, FEW = 2.1, 4


def retry_ladder(ladder: Ladder, now: datetime) -> Figure:
    rungs = [rung for rung in ladder.rungs if not is_empty(rung)]
    labels = [_label(rung) for rung in rungs]
    backlog = [rung.broker_backlog for rung in rungs]
    found = [rung.sampled.messages if rung.sampled else None for rung in rungs]
    titles = [_title(0, _("all groups")), _title(1, _("this group"))]
    return plain_figure(
        [
            _bars("backlog", rungs, backlog, [_waiting(rung) for rung in rungs], "x", "var(--heat-2)"),
            _bars("sampled", rungs, found, [_found(rung.sampled, now) for rung in rungs], "x2", "var(--state-warn)"),
            _hatch("unknown backlog", rungs, backlog, "broker_backlog", "x3"),
            _hatch("unknown sample", rungs, found, "sampled", "x4"),
        ],
        height=ROW_PIXELS * max(len(rungs), 3) + MARGIN_PIXELS,
        margin={"l": LEFT_PIXELS, "r": 14, "t": 26, "b": 30},
        barmode="overlay",
        bargap=0.25,
        hovermode="closest",
        annotations=titles + ([] if rungs else [_nothing(ladder)]),
        xaxis=_scale(backlog, PANELS[0]),
        xaxis2=_scale(found, PANELS[1]),
        xaxis3=_hatches("x", PANELS[0]),
        xaxis4=_hatches("x2", PANELS[1]),
        yaxis={
            **AXIS,
            "tickvals": list(range(1, len(rungs) + 1)),
            "ticktext": labels,
            "range": [(len(rungs) or 3) + 0.5, 0.5],
            "showgrid": False,
            "fixedrange": True,
        },
    )


def is_empty(rung: LadderRung) -> bool:
    """All that is asked of the level is known, and nothing waits at it."""
    return rung.broker_backlog == 0 and rung.sampled is not None and not rung.sampled.messages and not is_late(rung)


def _label(rung: LadderRung) -> str:
    """`3 · 10 s · retry 1`"""
    parts = [str(rung.level), "?" if rung.delay_seconds is None else duration(rung.delay_seconds)]
    return " · ".join([*parts, _("retry %(n)s") % {"n": rung.retry}] if rung.retry else parts)


def no_message(levels: int) -> str:
    return ngettext(
        "No message waits at the delay level", "No message waits at any of the %(n)s delay levels", levels
    ) % {"n": levels}


def _bars(
    name: str,
    rungs: Sequence[LadderRung],
    values: Sequence[int | None],
    texts: list[tuple[str, str]],
    axis: str,
    hue: str,
) -> Figure:
    """`texts`: of each row the words behind its bar, and those on hover."""
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": list(range(1, len(rungs) + 1)),
        "x": list(values),
        "xaxis": axis,
        "text": [words for words, _hover in texts],
        "textposition": "outside",
        "constraintext": "none",
        "cliponaxis": False,
        "textfont": {"color": QUIET, "size": 11},
        "hovertext": [hover for _words, hover in texts],
        "hoverinfo": "text",
        "marker": {"color": ["var(--state-stop)" if name == "backlog" and is_late(rung) else hue for rung in rungs]},
    }


def is_late(rung: LadderRung) -> bool:
    return rung.overdue_seconds is not None and rung.overdue_seconds > LATE_SECONDS


def _waiting(rung: LadderRung) -> tuple[str, str]:
    if rung.broker_backlog is None:
        return "", ""
    words = count(rung.broker_backlog)
    if is_late(rung):
        words += " · " + _("%(time)s late") % {"time": duration(rung.overdue_seconds or 0)}
    return words, _("level %(level)s: %(words)s, all groups, all brokers") % {"level": rung.level, "words": words}


def _found(sampled: SampledRung | None, now: datetime) -> tuple[str, str]:
    if sampled is None:
        return "", ""
    numbers = {"n": count(sampled.messages), "looked_at": count(sampled.looked_at), "of": count(sampled.of)}
    hover = [_("%(n)s of this group among %(looked_at)s inspected, of %(of)s waiting") % numbers]
    if sampled.oldest_waiting_at:
        hover.append(_("oldest since %s") % zoned(sampled.oldest_waiting_at, now))
    if sampled.next_due_at:
        hover.append(_("next due at %s") % zoned(sampled.next_due_at, now))
    for times, messages in sorted(sampled.attempts.items()):
        hover.append(_("retry %(times)s: %(n)s") % {"times": times, "n": count(messages)})
    words = numbers["n"] if sampled.is_whole else _("%(n)s of %(looked_at)s") % numbers
    return words, "<br>".join(hover)


def _hatch(name: str, rungs: Sequence[LadderRung], values: Sequence[int | None], field: str, axis: str) -> Figure:
    unknown = {row: rung for row, (rung, value) in enumerate(zip(rungs, values, strict=True), 1) if value is None}
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": list(unknown),
        "x": [1] * len(unknown),
        "xaxis": axis,
        "customdata": [rung.unknown.get(field, no_reason()) for rung in unknown.values()],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": HATCH,
    }


def _scale(values: Sequence[int | None], panel: list[float]) -> Figure:
    longest = max([FEW, *(value for value in values if value is not None)])
    axis = {**AXIS, "showline": False, "ticks": "", "gridcolor": RULE, "tickformat": "~s", "nticks": 4}
    return {**axis, "domain": panel, "range": [0, longest * ROOM_FOR_TEXT], "fixedrange": True}


def _hatches(overlaid: str, panel: list[float]) -> Figure:
    return {"overlaying": overlaid, "domain": panel, "range": [0, 1], "visible": False, "fixedrange": True}


def _title(panel: int, text: str) -> Figure:
    place = {"xref": "paper", "x": PANELS[panel][0], "xanchor": "left", "yref": "paper", "y": 1, "yanchor": "bottom"}
    return {**place, "text": text, "showarrow": False, "font": {"color": QUIET, "size": 11}}


def _nothing(ladder: Ladder) -> Figure:
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": 0.5}
    text = no_message(len(ladder.rungs)) if ladder.rungs else ladder.unknown.get("rungs", no_reason())
    return {**place, "text": text, "showarrow": False, "font": {"color": QUIET}}
