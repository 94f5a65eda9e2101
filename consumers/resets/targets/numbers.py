"""Whole numbers as JSON and forms send them."""

import re
from typing import Any

from django.utils.translation import gettext_lazy as _

from consumers.resets.wish import ResetRefused

NOT_AN_OFFSET = _("%(said)s is no offset: write a whole number, 0 or more.")
# Longer ones do not fit into a broker's 64 bits.
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


class ValueRefused(ResetRefused):
    """What was typed is wrong in itself, whatever the cluster says."""


def whole(said: Any) -> int | None:
    """Null for everything else: a truth, a fraction, words."""
    if isinstance(said, str) and _WHOLE.fullmatch(said.strip()):
        return int(said)
    return said if isinstance(said, int) and not isinstance(said, bool) else None


def is_offset(number: int) -> bool:
    return 0 <= number < 2**63
