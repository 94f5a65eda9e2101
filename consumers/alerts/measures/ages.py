"""A column of how long ago something last went well, of a few subjects whose sentences are made at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from consumers.alerts.measured import Column


@dataclass(frozen=True)
class Age:
    """`seconds` null: `sentence` says why it is not known. `since`: the moment that it is counted from.

    `is_due`: it is no older than the site's own intervals make it, however long these are.
    """

    seconds: float | None
    sentence: str
    since: datetime | None = None
    is_due: bool = False

    @classmethod
    def counted(cls, since: datetime, now: datetime, sentence: str, *, is_due: bool = False) -> "Age":
        return cls(max(0.0, (now - since).total_seconds()), sentence, since, is_due)


def age_column(ages: Sequence[Age]) -> Column:
    return Column(
        values=[one.seconds for one in ages],
        reason=lambda place: ages[place].sentence,
        evidence=lambda place: ages[place].sentence,
        since=lambda place: ages[place].since,
        spared=lambda place: ages[place].sentence if ages[place].is_due else None,
    )
