"""Who held each queue before and after: one pair of cells per queue, coloured by owner; what moved stands out."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

CELL, GAP, PAIR, PER_LINE, LABEL, COLOURS = 11, 2, 27, 48, 16, 12
WIDTH = PER_LINE * (CELL + GAP)
NOBODY, SEVERAL, UNKNOWN = "nobody", "several", "unknown"


@dataclass(frozen=True)
class QueueEnds:
    """None: not known; empty: nobody."""

    broker: str
    queue_id: int
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None
    stayed: bool


def before_after(queues: Sequence[QueueEnds], colours: Mapping[str, int], label: str) -> SafeString:
    """`colours` are places of owners among the twelve colours. One line for each broker, or more."""
    cells: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    labels: list[tuple[int, str]] = []
    top = 0
    for broker, of_broker in _by_broker(queues).items():
        labels.append((top + LABEL - 5, broker))
        top += LABEL
        for start in range(0, len(of_broker), PER_LINE):
            for number, queue in enumerate(of_broker[start : start + PER_LINE]):
                _draw(cells, queue, colours, number * (CELL + GAP), top)
            top += PAIR + 2 * GAP
    # Those that stayed first, so that the frames of those that moved lie above them.
    drawn = sorted(cells.items(), key=lambda item: (not item[0][2], item[0]))
    return format_html(
        '<svg class="before-after" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}</svg>',
        *(WIDTH, top, label),
        format_html_join("", '<text x="0" y="{}">{}</text>', labels),
        format_html_join("", "{}", ((_path(kind, name, stayed, steps),) for (kind, name, stayed), steps in drawn)),
    )


def colour_places(owners: Sequence[str]) -> dict[str, int]:
    """From 1: beyond twelve owners colours come again."""
    return {owner: number % COLOURS + 1 for number, owner in enumerate(owners)}


def _by_broker(queues: Sequence[QueueEnds]) -> dict[str, list[QueueEnds]]:
    found: dict[str, list[QueueEnds]] = defaultdict(list)
    for queue in sorted(queues, key=lambda queue: (queue.broker, queue.queue_id)):
        found[queue.broker].append(queue)
    return found


def _draw(
    cells: dict[tuple[str, str, bool], list[str]], queue: QueueEnds, colours: Mapping[str, int], x: int, y: int
) -> None:
    for owners, at in ((queue.before, y), (queue.after, y + CELL + 1)):
        kind, name = _kind(owners, colours)
        cells[kind, name, queue.stayed].append(f"M{x} {at}h{CELL}v{CELL}h-{CELL}z")
        if kind == NOBODY:
            cells["cross", name, queue.stayed].append(f"M{x + 2} {at + 2}l7 7M{x + 9} {at + 2}l-7 7")


def _kind(owners: tuple[str, ...] | None, colours: Mapping[str, int]) -> tuple[str, str]:
    """The class of a cell and what it says on hover."""
    if owners is None:
        return UNKNOWN, _("not known")
    if not owners:
        return NOBODY, _("nobody")
    if len(owners) > 1:
        return SEVERAL, ", ".join(owners)
    return f"owner-{colours[owners[0]]}", owners[0]


def _path(kind: str, name: str, stayed: bool, steps: list[str]) -> SafeString:
    fill = mark_safe(' fill="url(#hatch)"') if kind == UNKNOWN else ""
    classes = f"{kind} {'stayed' if stayed else 'moved'}"
    return format_html('<path class="{}"{} d="{}"><title>{}</title></path>', classes, fill, "".join(steps), name)
