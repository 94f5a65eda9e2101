"""Stretches of time of which something is not known, each with the reason. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple


class Stretch(NamedTuple):
    """[since, until)."""

    since: datetime
    until: datetime
    reason: str


def in_a_row(stretches: Iterable[Stretch]) -> list[Stretch]:
    """In order and without overlap: where several lie upon each other the one that began first tells the reason."""
    row: list[Stretch] = []
    for stretch in sorted(stretches):
        if row and stretch.since < row[-1].until:
            stretch = stretch._replace(since=row[-1].until)
        if stretch.since >= stretch.until:
            continue
        if row and row[-1].until == stretch.since and row[-1].reason == stretch.reason:
            row[-1] = row[-1]._replace(until=stretch.until)
        else:
            row.append(stretch)
    return row


def within(row: Sequence[Stretch], since: datetime, until: datetime) -> Iterator[Stretch]:
    """The parts of them that lie in [since, until). `row` has no overlaps."""
    for stretch in row:
        if stretch.until > since and stretch.since < until:
            yield Stretch(max(stretch.since, since), min(stretch.until, until), stretch.reason)


def uncovered(
    covered: Iterable[tuple[datetime, datetime]], since: datetime, until: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """What [since, until) has outside the covered stretches."""
    reached = since
    for start, end in sorted(covered):
        if start >= until:
            break
        if start > reached:
            yield reached, start
        reached = max(reached, end)
    if reached < until:
        yield reached, until
