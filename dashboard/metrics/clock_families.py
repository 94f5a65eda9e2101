"""Whether clocks are trusted: a clock that was set makes ages wrong, and keeps what is old from being deleted."""

from collections.abc import Iterator
from datetime import datetime

from consumers.clock.status import clock_status

from .exposition import Family


def clock_families(now: datetime) -> Iterator[Family]:
    """Nothing where no worker watches a clock."""
    status = clock_status(now)
    yield Family(
        "consumerscope_clock_changes", "How often a clock of a worker's machine was set in the last 24 hours.", (),
        [((), len(status.changes))] if status.is_watched else [],
    )  # fmt: skip
    yield Family(
        "consumerscope_expiry_held_seconds",
        "For so long nothing is deleted by age: a clock is in doubt. 0: none is.",
        (),
        [((), status.hold.left.total_seconds() if status.hold else 0.0)] if status.is_watched else [],
    )  # fmt: skip
