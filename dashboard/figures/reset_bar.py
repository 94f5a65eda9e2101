"""Where a queue stands and where a reset would take it, between the oldest and the newest message that is kept."""

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.wording.numbers import count

from .shapes import bar

WIDTH, HEIGHT = 180, 18
# Marks at the ends are drawn whole.
PAD = 6
MIDDLE = HEIGHT / 2


def reset_bar(
    min_offset: int | None, max_offset: int | None, now_offset: int | None, target: int | None, why: str = ""
) -> SafeString:
    """A rail from min to max, a bar where it stands, a diamond at the target and an arrow that leads there.

    Hatched where min or max is not known. Without `now_offset` there is no bar and no arrow: `why` says why.
    """
    if min_offset is None or max_offset is None or max_offset < min_offset:
        return bar("reset-bar", WIDTH, HEIGHT, _label(min_offset, max_offset, now_offset, target, why), _hatched())
    known = [offset for offset in (min_offset, max_offset, now_offset, target) if offset is not None]
    low, span = min(known), max(known) - min(known)

    def x(offset: int) -> float:
        return PAD + (WIDTH - 2 * PAD) * ((offset - low) / span if span else 0.5)

    start, end = x(min_offset), x(max_offset)
    width = max(end - start, 1.0)
    body = f'<rect class="kept" x="{start:.1f}" y="{MIDDLE - 2:g}" width="{width:.1f}" height="4"/>'
    if now_offset is not None and target is not None and now_offset != target:
        body += _way(x(now_offset), x(target), "replayed" if target < now_offset else "skipped")
    if now_offset is not None:
        body += f'<rect class="now" x="{x(now_offset) - 1.5:.1f}" y="1" width="3" height="{HEIGHT - 2}"/>'
    if target is not None:
        body += _diamond(x(target))
    return bar("reset-bar", WIDTH, HEIGHT, _label(min_offset, max_offset, now_offset, target, why), body)


def _way(start: float, end: float, name: str) -> str:
    """Back is drawn above the rail, forward below it: told apart without colour."""
    y = MIDDLE - 5 if name == "replayed" else MIDDLE + 5
    left, width = min(start, end), abs(end - start)
    return f'<rect class="{name}" x="{left:.1f}" y="{y - 1:g}" width="{width:.1f}" height="2"/>'


def _diamond(at: float) -> str:
    return f'<path class="target" d="M{at:.1f} {MIDDLE - 5:g}l5 5-5 5-5-5z"/>'


def _hatched() -> str:
    return f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#hatch)"/>'


def _label(min_offset: int | None, max_offset: int | None, now_offset: int | None, target: int | None, why: str) -> str:
    words = [
        (_("min"), min_offset, _("unknown")),
        (_("now"), now_offset, why or _("unknown")),
        (_("target"), target, _("unknown")),
        (_("max"), max_offset, _("unknown")),
    ]
    return ", ".join(f"{name} {otherwise if offset is None else count(offset)}" for name, offset, otherwise in words)
