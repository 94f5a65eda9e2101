"""One evaluation of all rules."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Report:
    """`evaluated` is False where another evaluation of that moment, or of a later one, was first."""

    at: datetime
    evaluated: bool
    rules: int = 0
    groups: int = 0
    seconds: float = 0.0
    fired: int = 0
    resolved: int = 0
    deliveries: int = 0


def evaluate(now: datetime, clock: Callable[[], float]) -> Report:
    """`clock` counts seconds, as time.monotonic does. Raises what went wrong, and leaves it in the engine's row."""
    raise NotImplementedError
