"""A small line of one quantity over time. What is not known is a hatched gap, never a point at zero."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

WIDTH, HEIGHT, PAD = 96, 20, 2


def sparkline(values: Sequence[float | None], label: str, floor: float = 0) -> SafeString:
    """`values` at equal steps, oldest first; the line's foot is zero. `label` says in words what is drawn.

    Values that never rise above `floor` stay low: a lag of two must not look like one of two million.
    """
    known = [value for value in values if value is not None]
    top = max([floor, *known]) or 1
    step = (WIDTH - 2 * PAD) / max(1, len(values) - 1)

    def x(index: float) -> str:
        return f"{PAD + index * step:.1f}"

    def y(value: float) -> str:
        return f"{HEIGHT - PAD - (HEIGHT - 2 * PAD) * value / top:.1f}"

    parts = []
    for start, run in _runs(values):
        if run[0] is None:
            parts.append(_gap(start, len(run), len(values), step))
        elif len(run) == 1:
            parts.append(f'<circle cx="{x(start)}" cy="{y(run[0])}" r="1.2" fill="currentColor"/>')
        else:
            points = " ".join(f"{x(start + i)},{y(value)}" for i, value in enumerate(run) if value is not None)
            parts.append(f'<polyline points="{points}"/>')
    return format_html(
        '<svg class="sparkline" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>',
        *(WIDTH, HEIGHT, WIDTH, HEIGHT, label),
        mark_safe("".join(parts)),
    )


def _runs(values: Sequence[float | None]) -> Iterator[tuple[int, list[float | None]]]:
    """Stretches of neighbours that are all known or all unknown, with the index of their first."""
    for _unknown, pairs in groupby(enumerate(values), key=lambda pair: pair[1] is None):
        run = list(pairs)
        yield run[0][0], [value for _index, value in run]


def _gap(start: int, length: int, total: int, step: float) -> str:
    left = max(0.0, PAD + (start - 0.5) * step)
    right = min(float(WIDTH), PAD + (start + length - 0.5) * step) if total > 1 else float(WIDTH)
    # The pattern stands once in the frame of the page.
    return f'<rect x="{left:.1f}" width="{right - left:.1f}" height="{HEIGHT}" fill="url(#hatch)"/>'
