"""Lengths of time as people type them: 90 s, 30 min, 2 h, 1.5 d; seconds where no unit is said."""

import re

SECONDS = {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86400}
# Short digits only: int() and float() take those of every script, and any number of them.
TYPED = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*(s|min|h|d|)", re.ASCII)


def seconds_of(text: str) -> float | None:
    """Null where it is no length of time."""
    match = TYPED.fullmatch(text.strip())
    return None if match is None else float(match[1]) * SECONDS[match[2]]
