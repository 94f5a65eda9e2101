"""How far apart the stores of one queue are: the file, the broker's memory, the client's, and what that holds."""

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from dashboard.wording.numbers import count

WIDTH, HEIGHT = 120, 12


def stores_bar(file: int | None, memory: int | None, client: int | None, end: int | None) -> SafeString:
    """`end` is one past the last message that the client holds. Hatched where neither memory is known."""
    places = {_("file"): file, _("broker"): memory, _("client"): client, _("held to"): end}
    known = {name: offset for name, offset in places.items() if offset is not None}
    label = ", ".join(f"{name} {count(offset)}" for name, offset in known.items())
    if memory is None or client is None:
        hatched = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#hatch)"/>'
        return _frame(_("distance unknown: %s") % (label or _("no store is known")), hatched)
    low, span = min(known.values()), max(known.values()) - min(known.values())

    def x(offset: int) -> float:
        # Stores that agree stand in the middle: no distance, and none is drawn.
        return 1 + (WIDTH - 2) * ((offset - low) / span if span else 0.5)

    body = "" if file is None else _part("unsaved", x(file), x(memory))
    body += _part("uncommitted", x(memory), x(client))
    body += "" if end is None else _part("held", x(client), x(end))
    body += "" if file is None else _mark("file", x(file))
    return _frame(label, body + _mark("broker", x(memory)) + _mark("client", x(client)))


def _part(name: str, start: float, end: float) -> str:
    left, width = min(start, end), abs(end - start)
    return f'<rect class="{name}" x="{left:.1f}" y="4" width="{width:.1f}" height="4"/>' if width else ""


def _mark(name: str, at: float) -> str:
    return f'<rect class="mark {name}" x="{at - 1:.1f}" width="2" height="{HEIGHT}"/>'


def _frame(label: str, body: str) -> SafeString:
    return format_html(
        '<svg class="stores-bar" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{label}">'
        "<title>{label}</title>{body}</svg>",
        w=WIDTH,
        h=HEIGHT,
        label=label,
        body=mark_safe(body),
    )
