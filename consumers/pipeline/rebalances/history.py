"""Lake rows of groups as readings: who was listed, what each member reported of itself and of the queues that it holds.

numpy sorts the rows of a bucket of groups once. Python objects are made of the readings that are looked at, and those
are few: a group's newest, and those before as far as something is compared with them. No Spark, no Django, no clock.

Retry topics are left out, and so is a queue that its holder has already dropped. A member is compared with its own
answer before, however many readings lie between: members are asked in turn.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.pipeline.kernel.arrays.columns import bools
from consumers.polling.members.collected import BEHIND_A_PROXY
from consumers.rocketmq.names import RETRY_PREFIX

from .tables import GROUP

CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
PUSH, PULL = "CONSUME_PASSIVELY", "CONSUME_ACTIVELY"
NO_TIME = np.iinfo(np.int64).min

Place = tuple[str, str, int]  # topic, broker, queue id


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

    def is_listed(self, at_us: int) -> bool:
        return self.seen_us <= at_us and (self.gone_us is None or self.gone_us > at_us)


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


class MemberAnswer(NamedTuple):
    """What a member reported when it was asked, or the `error` in the place of an answer.

    `queues`: what it holds, in order, each with its last pull. `failing_since_us`: of an error, the first one since
    the member last answered; is_mute: it has not for the lookback. `previous`: its answer before; null where it
    gave none for the lookback.
    """

    client_id: str
    at_us: int
    error: str | None
    started_us: int | None
    strategy: str | None
    subscription: str | None
    sub_version_us: int | None
    queues: tuple[tuple[Place, int | None], ...]
    failing_since_us: int | None = None
    is_mute: bool = False
    previous: "MemberAnswer | None" = None

    @property
    def places(self) -> list[Place]:
        return [place for place, _ in self.queues]


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
    asked: "Sequence[MemberRows]"
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


@dataclass(frozen=True)
class MemberRows:
    """The answers of one member, oldest first: where the rows of each begin and end, and whether it is an error."""

    rows: "OwnershipRows"
    client_id: str
    at_us: list[int]
    first: list[int]
    end: list[int]
    is_error: list[bool]

    def answer_at(self, at_us: int, lookback_us: int) -> MemberAnswer | None:
        number = bisect_left(self.at_us, at_us)
        if number == len(self.at_us) or self.at_us[number] != at_us:
            return None
        answer = self._answer(number)
        before = next((one for one in range(number - 1, -1, -1) if not self.is_error[one]), None)
        lately = before is not None and self.at_us[before] >= at_us - lookback_us
        if answer.error is not None:
            failing_since = self.at_us[0 if before is None else before + 1]
            return answer._replace(failing_since_us=failing_since, is_mute=not lately)
        return answer._replace(previous=self._answer(before)) if lately and before is not None else answer

    def _answer(self, number: int) -> MemberAnswer:
        return self.rows.answer(self.client_id, self.at_us[number], self.first[number], self.end[number])


class OwnershipRows:
    """The rows of ownership of a bucket of groups, sorted by group, member and time."""

    def __init__(self, table: pa.Table, groups: "GroupNumbers") -> None:
        number = groups.of(table)
        at_us = microseconds_of(table["taken_at"])
        chosen = np.flatnonzero((number >= 0) & (at_us >= groups.reach_us[number]))
        client = table["client_id"].combine_chunks().dictionary_encode()
        order = chosen[
            np.lexsort((at_us[chosen], client.indices.to_numpy(zero_copy_only=False)[chosen], number[chosen]))
        ]
        self.group, self.at_us = number[order], at_us[order]
        self._client, self._ids = client.indices.to_numpy(zero_copy_only=False)[order], client.dictionary.to_pylist()
        table = table.take(pa.array(order))
        self._error = TextColumn(table["error"])
        self._strategy, self._subscription = TextColumn(table["strategy"]), TextColumn(table["subscription"])
        self._topic, self._broker = TextColumn(table["topic"]), TextColumn(table["broker"])
        self._queue_id = pc.fill_null(table["queue_id"], -1).to_numpy()
        self._is_held = is_held(table)
        self._started, self._version, self._pulled = (
            microseconds_of(table[name]) for name in ("started_at", "sub_version", "last_pull_at")
        )

    def members(self) -> dict[int, list[MemberRows]]:
        """By group."""
        if not len(self.group):
            return {}
        is_new_member = _differs_from_last(self.group) | _differs_from_last(self._client)
        starts = np.flatnonzero(is_new_member | _differs_from_last(self.at_us))
        ends = np.append(starts[1:], len(self.group))
        is_error = np.logical_or.reduceat(self._error.is_known, starts)
        bounds = np.append(np.flatnonzero(is_new_member[starts]), len(starts)).tolist()
        at, firsts, lasts = (one.tolist() for one in (self.at_us[starts], starts, ends))
        errors: list[bool] = is_error.tolist()
        found: dict[int, list[MemberRows]] = {}
        for first, end in pairwise(bounds):
            row, part = firsts[first], slice(first, end)
            client_id = self._ids[self._client[row]]
            member = MemberRows(self, client_id, at[part], firsts[part], lasts[part], errors[part])
            found.setdefault(int(self.group[row]), []).append(member)
        return found

    def answer(self, client_id: str, at_us: int, first: int, end: int) -> MemberAnswer:
        held = [row for row in range(first, end) if self._is_held[row]]
        queues = [
            ((self._topic[row] or "", self._broker[row] or "", int(self._queue_id[row])), _us(self._pulled[row]))
            for row in held
        ]
        return MemberAnswer(
            client_id,
            at_us,
            next((self._error[row] for row in range(first, end) if self._error[row] is not None), None),
            # Of the client, the same in each of its rows.
            _us(self._started[first]),
            self._strategy[first],
            self._subscription[first],
            _us(self._version[first]),
            tuple(sorted(queues, key=lambda one: one[0])),
        )


class TextColumn:
    """Texts by row, without an object for each."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        encoded = column.combine_chunks().dictionary_encode()
        self._values = [*encoded.dictionary.to_pylist(), None]
        self._codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
        self.is_known = self._codes >= 0

    def __getitem__(self, row: int) -> str | None:
        return self._values[self._codes[row]]


class GroupNumbers:
    """The place of each group in a table of tables.GROUPS, and of the groups of rows of the lake in it; -1: in none."""

    def __init__(self, groups: pa.Table) -> None:
        self.count = groups.num_rows
        self.reach_us = np.append(groups["reach_us"].to_numpy(), 0)
        self._clusters, self._names = groups["cluster"].unique(), groups["group"].unique()
        self._numbers = np.full((len(self._clusters) + 1, len(self._names) + 1), -1)
        self._numbers[self._codes(groups)] = np.arange(self.count)

    def of(self, rows: pa.Table) -> np.ndarray:
        return self._numbers[self._codes(rows)]

    def _codes(self, rows: pa.Table) -> tuple[np.ndarray, np.ndarray]:
        cluster, name = (
            pc.fill_null(pc.index_in(rows[column], value_set=values), len(values)).to_numpy()
            for column, values in (("cluster", self._clusters), ("group", self._names))
        )
        return cluster, name


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
        [_us(one) for one in microseconds_of(table["sub_version"]).tolist()],
    ]
    bounds = [*np.flatnonzero(_differs_from_last(number)).tolist(), len(number)]
    return {int(number[first]): Listings(*(one[first:end] for one in columns)) for first, end in pairwise(bounds)}


def is_held(ownership: pa.Table) -> np.ndarray:
    """Rows that name a queue that their client holds, retry topics left out."""
    topic = ownership["topic"]
    is_counted = pc.and_not(pc.is_valid(topic), pc.starts_with(pc.fill_null(topic, ""), RETRY_PREFIX))
    return bools(pc.and_not(is_counted, pc.fill_null(ownership["dropped"], False)))


def microseconds_of(times: pa.ChunkedArray) -> np.ndarray:
    """NO_TIME where null."""
    return pc.fill_null(times.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()), NO_TIME).to_numpy()


def _us(at_us: int) -> int | None:
    return None if at_us == NO_TIME else int(at_us)


def _differs_from_last(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[True] if len(values) else [], values[1:] != values[:-1]]).astype(bool)
