"""Lake rows of groups as readings: who was listed, and what each member reported.

Readings are made when they are looked at, and those are few: a group's newest, and those before as far as something is
compared with them. No Spark, no Django, no clock.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from consumers.polling.members.collected import BEHIND_A_PROXY

from .member_rows import (
    GroupNumbers,
    MemberAnswer,
    MemberRows,
    OwnershipRows,
    Place,
    differs_from_last,
    known_us,
    microseconds_of,
)
from .tables import GROUP

CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
PUSH, PULL = "CONSUME_PASSIVELY", "CONSUME_ACTIVELY"


@dataclass(frozen=True, slots=True)
class MemberInterval:
    """One row of `clients` in tables.GROUPS: brokers listed this member from seen_us to gone_us."""

    client_id: str
    address: str | None
    started_us: int | None
    seen_us: int
    last_seen_us: int
    gone_us: int | None
    doubled_us: int | None
    answered_us: int | None
    may_hold: int | None

    def is_listed(self, at_us: int) -> bool:
        return self.seen_us <= at_us and (self.gone_us is None or self.gone_us > at_us)

    def processes(self, at_us: int) -> int:
        """How many share this id."""
        return 2 if self.doubled_us is not None and self.doubled_us <= at_us else 1


@dataclass(frozen=True, slots=True)
class TopicQueue:
    """One row of `queues` in tables.GROUPS."""

    topic: str
    broker: str
    queue_id: int
    first_seen_us: int | None
    readable: bool | None
    readable_us: int | None

    @property
    def place(self) -> Place:
        return self.topic, self.broker, self.queue_id

    @property
    def is_readable(self) -> bool:
        # Offsets are read more often than the topics' configurations: a queue that was seen only there is readable.
        return self.first_seen_us is not None if self.readable is None else self.readable

    def was_readable(self, at_us: int) -> bool:
        """By the rows of the poll: of two flips of one queue the earlier is forgotten."""
        has_flipped_since = self.readable_us is not None and self.readable_us > at_us
        return self.is_readable != has_flipped_since and (self.first_seen_us is None or self.first_seen_us <= at_us)

    def wanted(self) -> "tuple[int | None, int | None] | None":
        """From when to when somebody should hold it, null where always; None where nobody should."""
        if self.is_readable:
            known = [at for at in (self.first_seen_us, self.readable_us) if at is not None]
            return max(known, default=None), None
        return None if self.readable_us is None else (self.first_seen_us, self.readable_us)


@dataclass(frozen=True)
class GroupReading:
    """One reading of a group. `members`: the client ids that brokers listed, sorted. `answers`: by client id, also of
    clients that are not listed."""

    at_us: int
    brokers_answered: bool
    listed: int | None
    message_model: str | None
    consume_type: str | None
    sub_version_us: int | None
    members: tuple[str, ...]
    answers: tuple[MemberAnswer, ...]
    patient: frozenset[str]  # members that have been listed for longer than the patience

    @cached_property
    def reports(self) -> list[MemberAnswer]:
        """The answers of listed members."""
        return [one for one in self.answers if one.error is None and one.client_id in self.members]

    @cached_property
    def is_reported(self) -> bool:
        """Every listed member reported in this reading what it holds."""
        return self._is_listed and not self._silent

    @cached_property
    def is_complete(self) -> bool:
        """The same, where those that cannot be asked need not report: behind a proxy, or listed for longer than the
        patience and mute. Else one hanging client would keep its group from ever settling."""
        excused = {
            one.client_id
            for one in self.answers
            if one.error is not None
            and (one.error == BEHIND_A_PROXY or (one.is_mute and one.client_id in self.patient))
        }
        return self._is_listed and self._silent <= excused

    @cached_property
    def held(self) -> list[Place]:
        return [place for one in self.reports for place in one.places]

    @property
    def samples_owners(self) -> bool:
        """Members of a pull group do not say which queues they hold."""
        return self.is_reported and self.consume_type != PULL

    @cached_property
    def _silent(self) -> set[str]:
        return set(self.members) - {one.client_id for one in self.answers if one.error is None}

    @property
    def _is_listed(self) -> bool:
        # The rows and the lake are written one after the other: where they differ the reading is not written yet.
        return self.brokers_answered and self.listed == len(self.members)


@dataclass(frozen=True)
class GroupHistory:
    """One group: its row of tables.GROUPS and its readings, oldest first, made when they are asked for."""

    row: Mapping[str, Any]
    lookback_us: int
    patience_us: int
    listings: "Listings"
    asked: Sequence[MemberRows]
    _made: dict[int, GroupReading] = field(default_factory=dict)

    @property
    def key(self) -> dict[str, str]:
        return {name: self.row[name] for name in GROUP}

    @cached_property
    def intervals(self) -> list[MemberInterval]:
        names = MemberInterval.__slots__
        return [MemberInterval(**{name: one.get(name) for name in names}) for one in self.row["clients"] or ()]

    @cached_property
    def queues(self) -> list[TopicQueue]:
        return [TopicQueue(**one) for one in self.row["queues"] or ()]

    @property
    def times(self) -> Sequence[int]:
        return self.listings.at_us

    def listed(self, at_us: int) -> list[MemberInterval]:
        return [one for one in self.intervals if one.is_listed(at_us)]

    def reading(self, number: int) -> GroupReading:
        if number not in self._made:
            at_us = self.times[number]
            present = self.listed(at_us)
            answers = [one.answer_at(at_us, self.lookback_us) for one in self.asked]
            self._made[number] = GroupReading(
                at_us=at_us,
                members=tuple(sorted(one.client_id for one in present)),
                answers=tuple(sorted((one for one in answers if one), key=lambda one: one.client_id)),
                patient=frozenset(one.client_id for one in present if one.seen_us <= at_us - self.patience_us),
                **self.listings.values(number),
            )
        return self._made[number]

    def last_before(self, number: int, is_wanted: Any) -> GroupReading | None:
        """The newest reading before this one of which the claim is true."""
        readings = (self.reading(earlier) for earlier in range(number - 1, -1, -1))
        return next((one for one in readings if is_wanted(one)), None)

    def suffices_from(self, from_us: int) -> bool:
        """Whether readings from then on tell all that earlier ones could: in one of them, before all that is evaluated,
        every member reported, and who was listed before from_us and still is was among them. So each later answer, and
        each later list of members, has one before it there."""
        first_evaluated_us = self.row["since_us"] - self.patience_us
        reported = self.last_before(bisect_right(self.times, first_evaluated_us), lambda one: one.is_reported)
        if reported is None:
            return False
        earlier = {one.client_id for one in self.intervals if one.seen_us < from_us}
        later = {one.client_id for one in self.intervals if one.gone_us is None or one.gone_us > reported.at_us}
        return earlier & later <= set(reported.members)

    def last_listing(self, number: int) -> tuple[int, int | None] | None:
        """Before this reading: when all brokers answered, and the newest change that they told of."""
        for earlier in range(number - 1, -1, -1):
            if self.listings.brokers_answered[earlier]:
                return self.times[earlier], self.listings.sub_version_us[earlier]
        return None


@dataclass(frozen=True)
class Listings:
    """The rows of membership of one group."""

    at_us: list[int]
    brokers_answered: list[bool]
    listed: list[int | None]
    message_model: list[str | None]
    consume_type: list[str | None]
    sub_version_us: list[int | None]

    def values(self, number: int) -> dict[str, Any]:
        names = ("brokers_answered", "listed", "message_model", "consume_type", "sub_version_us")
        return {name: getattr(self, name)[number] for name in names}


def histories(
    groups: pa.Table, membership: pa.Table, ownership: pa.Table, lookback_us: int, patience_us: int
) -> Iterator[GroupHistory]:
    """Of the groups that have a reading from their reach_us on."""
    numbers = GroupNumbers(groups)
    listings, asked = _listings(membership, numbers), OwnershipRows(ownership, numbers).members()
    for number, row in enumerate(groups.to_pylist()):
        if number in listings:
            yield GroupHistory(row, lookback_us, patience_us, listings[number], asked.get(number, []))


def _listings(membership: pa.Table, groups: GroupNumbers) -> dict[int, Listings]:
    number, at_us = groups.of(membership), microseconds_of(membership["taken_at"])
    chosen = np.flatnonzero((number >= 0) & (at_us >= groups.reach_us[number]))
    order = chosen[np.lexsort((at_us[chosen], number[chosen]))]
    table, number = membership.take(pa.array(order)), number[order]
    columns = [
        at_us[order].tolist(),
        *(table[name].to_pylist() for name in ("complete", "members", "message_model", "consume_type")),
        [known_us(one) for one in microseconds_of(table["sub_version"]).tolist()],
    ]
    bounds = [*np.flatnonzero(differs_from_last(number)).tolist(), len(number)]
    return {int(number[first]): Listings(*(one[first:end] for one in columns)) for first, end in pairwise(bounds)}
