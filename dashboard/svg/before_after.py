"""Who held each queue before and after: one pair of cells per queue, coloured by owner; what moved stands out."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

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
        return SEVERAL, ", ".join(owners)
    return f"owner-{colours[owners[0]]}", owners[0]


def _path(kind: str, name: str, weight: str, steps: list[str]) -> SafeString:
    fill = mark_safe(' fill="url(#hatch)"') if kind == UNKNOWN else ""
    return format_html(
        '<path class="{} {}"{} d="{}"><title>{}</title></path>', kind, weight, fill, "".join(steps), name
    )
