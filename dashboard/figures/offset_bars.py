"""Bars of offsets: of a queue, of its stores, and before and after a reset."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from consumers.words.marks import clauses, listed
from dashboard.wording.numbers import count

from .time_bars import bar

# Where a consumer stands between the oldest and the newest message that its broker keeps.
WIDTH, HEIGHT = 120, 12

HATCHED = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#hatch)"/>'


def offset_bar(min_offset: int | None, consumer_offset: int | None, broker_offset: int | None) -> SafeString:
    """Filled from min to the consumer, open from there to max. Hatched where one is unknown, or they contradict."""
    if min_offset is None or consumer_offset is None or broker_offset is None:
        return bar("offset-bar", WIDTH, HEIGHT, _("position unknown"), HATCHED)
    words = {"low": f"{min_offset:,}", "at": f"{consumer_offset:,}", "high": f"{broker_offset:,}"}
    label = _("min %(low)s, consumer %(at)s, max %(high)s") % words
    if broker_offset < max(min_offset, consumer_offset):
        # The end of the queue lies before what is in it: a bar would show a consumer that has caught up.
        return bar("offset-bar", WIDTH, HEIGHT, _("%s: they contradict each other") % label, HATCHED)
    retained = broker_offset - min_offset
    at = 1.0 if retained <= 0 else min(1.0, max(0.0, (consumer_offset - min_offset) / retained))
    # A backlog, however small beside what is kept, leaves a visible sliver.
    filled = min(WIDTH * at, WIDTH - 2) if consumer_offset < broker_offset else float(WIDTH)
    body = f'<rect class="consumed" y="4" width="{filled:.1f}" height="4"/>'
    body += f'<rect class="waiting" x="{filled:.1f}" y="4" width="{WIDTH - filled:.1f}" height="4"/>'
    if consumer_offset < min_offset:
        body += f'<rect class="expired" width="3" height="{HEIGHT}"/>'
    return bar(
        "offset-bar",
        WIDTH,
        HEIGHT,
        label,
        body + f'<rect class="mark" x="{max(0.0, filled - 1):.1f}" width="2" height="{HEIGHT}"/>',
    )


# How far apart the stores of one queue are: the file, the broker's memory, the client's, and what that holds.
def stores_bar(file: int | None, memory: int | None, client: int | None, end: int | None) -> SafeString:
    """`end` is one past the last message that the client holds. Hatched where neither memory is known."""
    places = {_("file"): file, _("broker"): memory, _("client"): client, _("held to"): end}
    known = {name: offset for name, offset in places.items() if offset is not None}
    label = clauses(_("%(name)s %(offset)s") % {"name": name, "offset": count(n)} for name, n in known.items())
    if memory is None or client is None:
        hatched = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#hatch)"/>'
        return bar("stores-bar", WIDTH, HEIGHT, _("distance unknown: %s") % (label or _("no store is known")), hatched)
    low, span = min(known.values()), max(known.values()) - min(known.values())

    def x(offset: int) -> float:
        # Stores that agree stand in the middle: no distance, and none is drawn.
        return 1 + (WIDTH - 2) * ((offset - low) / span if span else 0.5)

    body = "" if file is None else _part("unsaved", x(file), x(memory))
    body += _part("uncommitted", x(memory), x(client))
    body += "" if end is None else _part("held", x(client), x(end))
    body += "" if file is None else _mark("file", x(file))
    return bar("stores-bar", WIDTH, HEIGHT, label, body + _mark("broker", x(memory)) + _mark("client", x(client)))


def _part(name: str, start: float, end: float) -> str:
    left, width = min(start, end), abs(end - start)
    return f'<rect class="{name}" x="{left:.1f}" y="4" width="{width:.1f}" height="4"/>' if width else ""


def _mark(name: str, at: float) -> str:
    return f'<rect class="mark {name}" x="{at - 1:.1f}" width="2" height="{HEIGHT}"/>'


# Who held each queue before and after: one pair of cells per queue, coloured by owner; what moved stands out.
CELL, GAP, PER_LINE, LABEL, COLOURS = 13, 2, 48, 16, 12

LINE = 2 * CELL + 1 + 3 * GAP

# For the label of a broker, where it has few queues.
LEAST_WIDTH = 12 * (CELL + GAP)

WEIGHTS = {True: "stayed", False: "moved", None: "unsure"}

# By class, what they say on hover, and weight: the steps of their path.
Cells = dict[tuple[str, str, str], list[str]]

NOBODY, SEVERAL, UNKNOWN = "nobody", "several", "unknown"


@dataclass(frozen=True)
class QueueEnds:
    """None: not known; empty: nobody. `stayed` null: not known either."""

    broker: str
    queue_id: int
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None
    stayed: bool | None


def before_after(queues: Sequence[QueueEnds], colours: Mapping[str, int], label: str) -> SafeString:
    """`colours` are places of owners among the twelve colours. One line for each broker, or more."""
    cells: Cells = defaultdict(list)
    labels: list[tuple[int, str]] = []
    top = 0
    for broker, of_broker in _by_broker(queues).items():
        labels.append((top + LABEL - 5, broker))
        top += LABEL
        for start in range(0, len(of_broker), PER_LINE):
            for number, queue in enumerate(of_broker[start : start + PER_LINE]):
                _draw(cells, queue, colours, number * (CELL + GAP), top)
            top += LINE
    longest = max((min(len(of_broker), PER_LINE) for of_broker in _by_broker(queues).values()), default=0)
    width = max(LEAST_WIDTH, longest * (CELL + GAP))
    # Those that moved last, so that their frames lie above the others.
    drawn = sorted(cells.items(), key=lambda item: (item[0][2] == "moved", item[0]))
    return format_html(
        '<svg class="before-after" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{2}">'
        "{3}{4}</svg>",
        *(width, top, label),
        format_html_join("", '<text x="0" y="{}">{}</text>', labels),
        format_html_join("", "{}", ((_path(kind, name, weight, steps),) for (kind, name, weight), steps in drawn)),
    )


def colour_places(owners: Sequence[str]) -> dict[str, int]:
    """From 1: beyond twelve owners colours come again."""
    return {owner: number % COLOURS + 1 for number, owner in enumerate(owners)}


def _by_broker(queues: Sequence[QueueEnds]) -> dict[str, list[QueueEnds]]:
    found: dict[str, list[QueueEnds]] = defaultdict(list)
    for queue in sorted(queues, key=lambda queue: (queue.broker, queue.queue_id)):
        found[queue.broker].append(queue)
    return found


def _draw(cells: Cells, queue: QueueEnds, colours: Mapping[str, int], x: int, y: int) -> None:
    for owners, at in ((queue.before, y), (queue.after, y + CELL + 1)):
        kind, name = _kind(owners, colours)
        cells[kind, name, WEIGHTS[queue.stayed]].append(f"M{x} {at}h{CELL}v{CELL}h-{CELL}z")
        if kind == NOBODY:
            cells["cross", name, WEIGHTS[queue.stayed]].append(f"M{x + 3} {at + 3}l7 7M{x + 10} {at + 3}l-7 7")


def _kind(owners: tuple[str, ...] | None, colours: Mapping[str, int]) -> tuple[str, str]:
    """The class of a cell and what it says on hover."""
    if owners is None:
        return UNKNOWN, _("unknown")
    if not owners:
        return NOBODY, _("no owner")
    if len(owners) > 1:
        return SEVERAL, listed(owners)
    return f"owner-{colours[owners[0]]}", owners[0]


def _path(kind: str, name: str, weight: str, steps: list[str]) -> SafeString:
    fill = mark_safe(' fill="url(#hatch)"') if kind == UNKNOWN else ""
    return format_html(
        '<path class="{} {}"{} d="{}"><title>{}</title></path>', kind, weight, fill, "".join(steps), name
    )


# Where a queue stands and where a reset would take it, between the oldest and the newest message that is kept.
RESET_WIDTH, RESET_HEIGHT = 180, 18
# Marks at the ends are drawn whole.
PAD = 6
MIDDLE = RESET_HEIGHT / 2


def reset_bar(
    min_offset: int | None, max_offset: int | None, now_offset: int | None, target: int | None, why: str = ""
) -> SafeString:
    """A rail from min to max, a bar where it stands, a diamond at the target and an arrow that leads there.

    Hatched where min or max is not known. Without `now_offset` there is no bar and no arrow: `why` says why.
    """
    if min_offset is None or max_offset is None or max_offset < min_offset:
        return bar(
            "reset-bar", RESET_WIDTH, RESET_HEIGHT, _label(min_offset, max_offset, now_offset, target, why), _hatched()
        )
    known = [offset for offset in (min_offset, max_offset, now_offset, target) if offset is not None]
    low, span = min(known), max(known) - min(known)

    def x(offset: int) -> float:
        return PAD + (RESET_WIDTH - 2 * PAD) * ((offset - low) / span if span else 0.5)

    start, end = x(min_offset), x(max_offset)
    width = max(end - start, 1.0)
    body = f'<rect class="kept" x="{start:.1f}" y="{MIDDLE - 2:g}" width="{width:.1f}" height="4"/>'
    if now_offset is not None and target is not None and now_offset != target:
        body += _way(x(now_offset), x(target), "replayed" if target < now_offset else "skipped")
    if now_offset is not None:
        body += f'<rect class="now" x="{x(now_offset) - 1.5:.1f}" y="1" width="3" height="{RESET_HEIGHT - 2}"/>'
    if target is not None:
        body += _diamond(x(target))
    return bar("reset-bar", RESET_WIDTH, RESET_HEIGHT, _label(min_offset, max_offset, now_offset, target, why), body)


def _way(start: float, end: float, name: str) -> str:
    """Back is drawn above the rail, forward below it: told apart without colour."""
    y = MIDDLE - 5 if name == "replayed" else MIDDLE + 5
    left, width = min(start, end), abs(end - start)
    return f'<rect class="{name}" x="{left:.1f}" y="{y - 1:g}" width="{width:.1f}" height="2"/>'


def _diamond(at: float) -> str:
    return f'<path class="target" d="M{at:.1f} {MIDDLE - 5:g}l5 5-5 5-5-5z"/>'


def _hatched() -> str:
    return f'<rect width="{RESET_WIDTH}" height="{RESET_HEIGHT}" fill="url(#hatch)"/>'


def _label(min_offset: int | None, max_offset: int | None, now_offset: int | None, target: int | None, why: str) -> str:
    words = [
        (_("min"), min_offset, _("unknown")),
        (_("now"), now_offset, why or _("unknown")),
        (_("target"), target, _("unknown")),
        (_("max"), max_offset, _("unknown")),
    ]
    return clauses(
        _("%(name)s %(offset)s") % {"name": name, "offset": otherwise if offset is None else count(offset)}
        for name, offset, otherwise in words
    )
