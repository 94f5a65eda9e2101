"""One shape for each state, so that a state is told apart without its colour; one for rebalances, one for resets, and
a flag for incidents of each severity.
"""

from django.utils.safestring import SafeString, mark_safe

REBALANCE, RESET = "REBALANCE", "RESET"
CRITICAL, WARNING, INFO = "CRITICAL", "WARNING", "INFO"
_POLE = '<path d="M2 .5v11" fill="none" stroke="currentColor" stroke-width="1.6"/>'
# Drawn in a box of 12 by 12, filled with the colour of the text around it.
SHAPES = {
    "LOSS": '<path d="M2.2 .8 6 4.6 9.8 .8l1.4 1.4L7.4 6l3.8 3.8-1.4 1.4L6 7.4 2.2 11.2.8 9.8 4.6 6 .8 2.2z"/>',
    "STOP": '<path d="M6 .8 11.6 11H.4z"/>',
    "STALL": '<circle cx="6" cy="6" r="5"/>',
    "REWIND": '<path d="M6 11.2.4 1h11.2z"/>',
    "WARN": '<path d="M6 .3 11.7 6 6 11.7.3 6z"/>',
    "UNKNOWN": '<circle cx="6" cy="6" r="4.4" fill="none" stroke="currentColor" stroke-width="1.6" '
    'stroke-dasharray="2.2 1.7"/>',
    "RECREATED": '<path d="M1 1h10v10H1z" fill="none" stroke="currentColor" stroke-width="1.8"/>',
    REBALANCE: '<path d="M1 4h8M6.6 1.4 9.4 4 6.6 6.6M11 8.6H3M5.4 6 2.6 8.6l2.8 2.6" fill="none" '
    'stroke="currentColor" stroke-width="1.5"/>',
    RESET: '<path d="M3 2.6v3h3M3.2 5.4A4.2 4.2 0 1 1 2 8" fill="none" stroke="currentColor" stroke-width="1.6"/>',
    CRITICAL: _POLE + '<path d="M3 1 11.6 4.6 3 8.2z"/>',
    WARNING: _POLE + '<path d="M7.3 .6 11.4 4.6 7.3 8.6 3.2 4.6z"/>',
    INFO: _POLE + '<path d="M4 1.4h6.6v6H4z" fill="none" stroke="currentColor" stroke-width="1.5"/>',
    "OK": '<path d="m1 6.6 3.4 3.6L11 2.4" fill="none" stroke="currentColor" stroke-width="2"/>',
}


def state_shape(state: str, *, classes: str = "shape") -> SafeString:
    return mark_safe(
        f'<svg class="{classes}" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">{SHAPES[state]}</svg>'
    )
