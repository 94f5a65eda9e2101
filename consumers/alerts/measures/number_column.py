"""Columns of numbers, each with the words that its numbers are said in."""

from collections.abc import Callable, Sequence
from datetime import datetime

from consumers.alerts.measured import Column


def number_column(
    values: Sequence[float | None],
    reason: Callable[[int], str],
    words: Callable[[float], str],
    *,
    since: Callable[[int], datetime | None] = lambda _: None,
    spared: Callable[[int], str | None] = lambda _: None,
) -> Column:
    """What is not known has its reason for evidence."""

    def evidence(place: int) -> str:
        value = values[place]
        return reason(place) if value is None else words(value)

    return Column(values, reason, evidence, since, spared)
