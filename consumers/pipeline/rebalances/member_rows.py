"""Answers of members out of rows of the lake's ownership: what each reported of itself and of the queues that it holds.

numpy sorts the rows of a bucket of groups once. Python objects are made of the answers that are looked at, and those
are few. Retry topics are left out, and so is a queue that its holder has already dropped. A member is compared with its
own answer before, however many readings lie between: members are asked in turn.
"""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.encoded import encoded, indices
from consumers.pipeline.kernel.columns import bools
from consumers.rocketmq.names import RETRY_PREFIX

NO_TIME = np.iinfo(np.int64).min

Place = tuple[str, str, int]  # topic, broker, queue id


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
        client = encoded(table["client_id"])
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
        self._is_held = is_held(table) & ~is_retry(table)
        self._started, self._version, self._pulled = (
            microseconds_of(table[name]) for name in ("started_at", "sub_version", "last_pull_at")
        )

    def members(self) -> dict[int, list[MemberRows]]:
        """By group."""
        if not len(self.group):
            return {}
        is_new_member = differs_from_last(self.group) | differs_from_last(self._client)
        starts = np.flatnonzero(is_new_member | differs_from_last(self.at_us))
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
            ((self._topic[row] or "", self._broker[row] or "", int(self._queue_id[row])), known_us(self._pulled[row]))
            for row in held
        ]
        return MemberAnswer(
            client_id,
            at_us,
            next((self._error[row] for row in range(first, end) if self._error[row] is not None), None),
            # Of the client, the same in each of its rows.
            known_us(self._started[first]),
            self._strategy[first],
            self._subscription[first],
            known_us(self._version[first]),
            tuple(sorted(queues, key=lambda one: one[0])),
        )


class TextColumn:
    """Texts by row, without an object for each."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        whole = encoded(column)
        self._values = [*whole.dictionary.to_pylist(), None]
        self._codes = indices(whole)
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


def is_held(ownership: pa.Table) -> np.ndarray:
    """Rows that name a queue that their client holds."""
    return bools(pc.and_not(pc.is_valid(ownership["topic"]), pc.fill_null(ownership["dropped"], False)))


def is_retry(rows: pa.Table) -> np.ndarray:
    """Rows of queues of retry topics."""
    return bools(pc.starts_with(pc.fill_null(rows["topic"], ""), RETRY_PREFIX))


def microseconds_of(times: pa.ChunkedArray) -> np.ndarray:
    """NO_TIME where null."""
    return pc.fill_null(times.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()), NO_TIME).to_numpy()


def known_us(at_us: int) -> int | None:
    return None if at_us == NO_TIME else int(at_us)


def differs_from_last(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[True] if len(values) else [], values[1:] != values[:-1]]).astype(bool)
