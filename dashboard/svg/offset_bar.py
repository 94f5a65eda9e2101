"""Where a consumer stands between the oldest and the newest message that its broker keeps."""

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

WIDTH, HEIGHT = 120, 12
HATCHED = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#hatch)"/>'


def offset_bar(min_offset: int | None, consumer_offset: int | None, broker_offset: int | None) -> SafeString:
    """Filled from min to the consumer, open from there to max. Hatched where one is unknown, or they contradict."""
    if min_offset is None or consumer_offset is None or broker_offset is None:
        return _frame(_("position unknown"), HATCHED)
    words = {"low": f"{min_offset:,}", "at": f"{consumer_offset:,}", "high": f"{broker_offset:,}"}
    label = _("min %(low)s, consumer %(at)s, max %(high)s") % words
    if broker_offset < max(min_offset, consumer_offset):
        # The end of the queue lies before what is in it: a bar would show a consumer that has caught up.
        return _frame(_("%s: they contradict each other") % label, HATCHED)
    kept = broker_offset - min_offset
    at = 1.0 if kept <= 0 else min(1.0, max(0.0, (consumer_offset - min_offset) / kept))
    # A backlog, however small beside what is kept, leaves a visible sliver.
    filled = min(WIDTH * at, WIDTH - 2) if consumer_offset < broker_offset else float(WIDTH)
    body = f'<rect class="consumed" y="4" width="{filled:.1f}" height="4"/>'
    body += f'<rect class="waiting" x="{filled:.1f}" y="4" width="{WIDTH - filled:.1f}" height="4"/>'
    if consumer_offset < min_offset:
        body += f'<rect class="expired" width="3" height="{HEIGHT}"/>'
    return _frame(label, body + f'<rect class="mark" x="{max(0.0, filled - 1):.1f}" width="2" height="{HEIGHT}"/>')


def _frame(label: str, body: str) -> SafeString:
    return format_html(
        '<svg class="offset-bar" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{label}">'
        "<title>{label}</title>{body}</svg>",
        w=WIDTH,
        h=HEIGHT,
        label=label,
        body=mark_safe(body),
    )
