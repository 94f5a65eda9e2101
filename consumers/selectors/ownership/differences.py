"""When members of a group subscribed differently to a topic, out of intervals with honest bounds. Pure.

Only what is certain is compared: between two answers of the same content, and of a topic that a client does not name
between two answers of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from .claims import INSTANT
from .expression import Expression
from .stretches import uncovered

Span = tuple[datetime, datetime]


class Said(NamedTuple):
    """A client wanted so between two answers; `doubt_until`: from when it is known that it did no more."""

    client_id: str
    wanted: Expression
    since: datetime
    until: datetime
    doubt_until: datetime


@dataclass
class Period:
    """`clients` by what they wanted; null: the topic not at all."""

    since: datetime
    until: datetime
    clients: dict[Expression | None, set[str]] = field(default_factory=dict)

    def also(self, wanted: Mapping[Expression | None, set[str]], until: datetime) -> None:
        self.until = until
        for what, clients in wanted.items():
            self.clients.setdefault(what, set()).update(clients)


class _Change(NamedTuple):
    at: datetime
    begins: bool
    wanted: Expression | None
    client_id: str


def periods(
    said: Sequence[Said], answered: Mapping[str, Sequence[Span]], since: datetime, until: datetime
) -> list[Period]:
    """`said` of one topic; `answered`: of every client, from one answer to another. In order, within [since, until)."""
    if _is_agreed(said, answered):
        return []
    found: list[Period] = []
    wanted: dict[Expression | None, set[str]] = {}
    before = since
    for at, changes in _by_time(_changes(said, answered, since, until)):
        if len(wanted) > 1 and at - before > INSTANT:
            if not found or found[-1].until != before:
                found.append(Period(before, at))
            found[-1].also(wanted, at)
        for change in changes:
            _apply(change, wanted)
        before = at
    return found


def _is_agreed(said: Sequence[Said], answered: Mapping[str, Sequence[Span]]) -> bool:
    """Everybody who answered wanted the same all the time: the usual case, without a look at times."""
    if len({one.wanted for one in said}) > 1:
        return False
    own: dict[str, list[Span]] = {}
    for one in said:
        own.setdefault(one.client_id, []).append((one.since, one.until))
    return all(
        not list(uncovered(own.get(client_id, ()), start, end))
        for client_id, spans in answered.items()
        for start, end in spans
    )


def _changes(
    said: Sequence[Said], answered: Mapping[str, Sequence[Span]], since: datetime, until: datetime
) -> Iterator[_Change]:
    spoken: dict[str, list[Span]] = {}
    for one in said:
        spoken.setdefault(one.client_id, []).append((one.since, one.doubt_until))
        yield from _within(one.wanted, one.client_id, (one.since, one.until), since, until)
    for client_id, spans in answered.items():
        for span in _united(spans):
            for silent in uncovered(spoken.get(client_id, ()), *span):
                yield from _within(None, client_id, silent, since, until)


def _united(spans: Sequence[Span]) -> list[Span]:
    united: list[Span] = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(united[-1][1], end)
        else:
            united.append((start, end))
    return united


def _within(
    wanted: Expression | None, client_id: str, span: Span, since: datetime, until: datetime
) -> Iterator[_Change]:
    start, end = max(span[0], since), min(span[1], until)
    if end - start > INSTANT:
        yield _Change(start, True, wanted, client_id)
        yield _Change(end, False, wanted, client_id)


def _by_time(changes: Iterable[_Change]) -> Iterator[tuple[datetime, list[_Change]]]:
    together: dict[datetime, list[_Change]] = {}
    for change in changes:
        together.setdefault(change.at, []).append(change)
    yield from sorted(together.items())


def _apply(change: _Change, wanted: dict[Expression | None, set[str]]) -> None:
    if change.begins:
        wanted.setdefault(change.wanted, set()).add(change.client_id)
        return
    wanted[change.wanted].discard(change.client_id)
    if not wanted[change.wanted]:
        del wanted[change.wanted]
