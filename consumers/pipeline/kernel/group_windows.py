"""Windows of a group from those of its queues.
One queue whose lag is unknown makes the group's unknown, with the reason.

Lag and time lag count the group's own topics and its retry topic, where messages wait from when they were due.
Rates are those of its own topics.
"""

import numpy as np
import pyarrow as pa

from consumers.vocabulary.reasons import VolumeReason
from consumers.vocabulary.states import NO_LAG_REASONS, UnknownReason

from .columns import GROUP, QUEUE, Case, Columns, Texts, arrow, first_rows, key_numbers, matches, times, whole
from .segments import MICROSECONDS, Groups
from .time_lag import AT_LEAST, UNKNOWN

OF_WINDOW = [*GROUP, "start"]


def group_windows(windows: pa.Table, unread: pa.Table) -> pa.Table:
    """cluster, group, start, lag_messages, time_lag_seconds, consume_rate, produce_rate, readings, unknown_reason.

    `unread`: cluster, group, start of the windows in which a broker that holds queues of the group was not read.
    """
    columns, groups, found, is_unread = _grouped(windows, unread)
    return _with_lag(found, columns, groups, is_unread)


def whole_group_windows(windows: pa.Table, unread: pa.Table, dead: pa.Table, topics: pa.Table) -> pa.Table:
    """The same with each of VOLUMES and {volume}_unknown, its reason.

    `dead`: as dead_letter_sums gives it. `topics`: cluster, group, has_retry, has_dead, null where that was not asked.
    """
    columns, groups, found, is_unread = _grouped(windows, unread)
    found = _with_lag(found, columns, groups, is_unread)
    return _with_volumes(found, columns, groups, is_unread, dead, topics)


def _grouped(windows: pa.Table, unread: pa.Table) -> tuple[Columns, Groups, pa.Table, np.ndarray]:
    columns, numbers = Columns(windows), key_numbers(windows, OF_WINDOW)
    groups = Groups(numbers, int(numbers.max(initial=-1)) + 1)
    found = columns.table.select(OF_WINDOW).take(pa.array(first_rows(numbers)))
    return columns, groups, found, matches(found, unread, OF_WINDOW) >= 0


def _with_lag(found: pa.Table, columns: Columns, groups: Groups, is_unread: np.ndarray) -> pa.Table:
    reasons = Texts.of(columns.table["unknown_reason"])
    has_no_lag = reasons.is_in(NO_LAG_REASONS)
    lag, is_known = columns["lag_messages"], ~np.isnan(columns["lag_messages"])
    is_behind, kind = ~has_no_lag & (lag > 0), Texts.of(columns.table["time_lag_kind"])
    unknown = reasons.otherwise(UnknownReason.NOT_READ).least(groups.numbers, ~is_known & ~has_no_lag, groups.count)
    no_lag = reasons.least(groups.numbers, has_no_lag, groups.count)
    why = Texts.chosen(
        [
            (is_unread, UnknownReason.BROKER_UNREAD),
            (unknown.is_known, unknown),
            (~groups.any(is_known), no_lag),
        ],
        groups.count,
    )
    why_no_time_lag = Texts.chosen(
        [
            (why.is_known, why),
            (groups.any(is_behind & kind.is_in([UNKNOWN])), UnknownReason.TIME_LAG_UNKNOWN),
            (groups.any(is_behind & kind.is_in([AT_LEAST])), UnknownReason.TIME_LAG_AT_LEAST),
        ],
        groups.count,
    )
    is_own = ~columns.is_in("kind", ["retry"]) & ~has_no_lag
    time_lag = groups.max(columns["time_lag_seconds"], ~has_no_lag)
    rates = {
        name: arrow(np.where(is_unread, np.nan, groups.whole_sum(columns[name], is_own)))
        for name in ("consume_rate", "produce_rate")
    }
    return _appended(
        found,
        {
            "lag_messages": whole(np.where(why.is_known, np.nan, groups.sum(lag))),
            "time_lag_seconds": arrow(np.where(why_no_time_lag.is_known, np.nan, time_lag)),
            **rates,
            "readings": whole(groups.max(columns["readings"])).cast(pa.int32()),
            "unknown_reason": why_no_time_lag.arrow(),
        },
    )


def _with_volumes(
    found: pa.Table, columns: Columns, groups: Groups, is_unread: np.ndarray, dead: pa.Table, topics: pa.Table
) -> pa.Table:
    """One queue's volume that is not known makes the group's unknown. into_retry and out_of_retry are sums over its
    retry topics under any of their names, consumed over its own topics."""
    is_retry = columns.is_in("kind", ["retry"])
    is_never = columns.is_in("unknown_reason", [UnknownReason.NEVER_COMMITTED])
    reasons = Texts.of(columns.table["volume_unknown"]).otherwise(VolumeReason.NOT_RECORDED)
    own_queues = groups.count_if(~is_retry)
    deads, topic = (
        JoinedColumns(dead, matches(found, dead, OF_WINDOW)),
        JoinedColumns(topics, matches(found, topics, GROUP)),
    )

    def summed(name: str, chosen: np.ndarray) -> tuple[np.ndarray, Texts]:
        unknown = chosen & np.isnan(columns[name])
        return groups.sum(columns[name], chosen), reasons.least(groups.numbers, unknown, groups.count)

    def or_none(part: tuple[np.ndarray, Texts], missing: np.ndarray, has: str, why: str) -> tuple[np.ndarray, Texts]:
        """Nothing goes into a topic that no broker has: that is known of a group, or not."""
        cases: list[Case] = [
            (missing & topic.is_null(has), VolumeReason.TOPICS_UNREAD),
            (missing & topic.holds(has), why),
            (~missing, part[1]),
        ]
        return np.where(missing, 0.0, part[0]), Texts.chosen(cases, groups.count)

    has_none = groups.count_if(is_retry) == 0
    consumed, consumed_unknown = summed("consumed", ~is_retry)
    why_consumed = Texts.chosen(
        [
            (own_queues == 0, VolumeReason.NO_OWN_QUEUE),
            (own_queues == groups.count_if(~is_retry & is_never), UnknownReason.NEVER_COMMITTED),
            (np.ones(groups.count, bool), consumed_unknown),
        ],
        groups.count,
    )
    parts = {
        "into_retry": or_none(summed("produced", is_retry), has_none, "has_retry", VolumeReason.RETRY_UNREAD),
        "out_of_retry": or_none(summed("consumed", is_retry), has_none, "has_retry", VolumeReason.RETRY_UNREAD),
        "into_dlq": or_none(
            (deads.numbers("messages"), deads.texts("unknown")),
            deads.is_missing,
            "has_dead",
            VolumeReason.DEAD_LETTERS_UNREAD,
        ),
        "consumed": (consumed, why_consumed),
    }
    named: dict[str, pa.Array] = {}
    for name, (messages, reason) in parts.items():
        unknown = Texts.chosen([(is_unread, UnknownReason.BROKER_UNREAD), (~is_unread, reason)], groups.count)
        named |= {name: whole(np.where(unknown.is_known, np.nan, messages)), f"{name}_unknown": unknown.arrow()}
    return _appended(found, named)


def dead_letter_sums(windows: pa.Table) -> pa.Table:
    """cluster, group, start, messages and unknown, from the windows of dead-letter queues."""
    columns = Columns(windows)
    numbers = key_numbers(windows, OF_WINDOW)
    groups = Groups(numbers, int(numbers.max(initial=-1)) + 1)
    unknown = Texts.of(windows["volume_unknown"]).otherwise(VolumeReason.NOT_RECORDED)
    return _appended(
        columns.table.select(OF_WINDOW).take(pa.array(first_rows(numbers))),
        {
            "messages": whole(groups.sum(columns["produced"])),
            "unknown": unknown.least(numbers, np.isnan(columns["produced"]), groups.count).arrow(),
        },
    )


class JoinedColumns:
    """Columns of a table at row numbers, of which -1 is no row."""

    def __init__(self, table: pa.Table, rows: np.ndarray) -> None:
        self.is_missing = rows < 0
        self._table = table.combine_chunks().take(pa.array(rows, mask=self.is_missing))

    def numbers(self, name: str) -> np.ndarray:
        return Columns(self._table)[name]

    def texts(self, name: str) -> Texts:
        return Texts.of(self._table[name])

    def holds(self, name: str) -> np.ndarray:
        return Columns(self._table)[name]

    def is_null(self, name: str) -> np.ndarray:
        return ~Columns(self._table).is_known(name)


def _appended(table: pa.Table, columns: dict[str, pa.Array]) -> pa.Table:
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table


# Wide windows from the next finer ones: ten minutes from minutes, an hour from ten minutes, a day from hours.
#
# Lag is that of the last part, a rate is known only where every part has one.
#
# Volumes are sums of all parts: null while one is missing.

LAST = ["lag_messages", "time_lag_seconds", "time_lag_kind", "unknown_reason"]


def wide_windows(windows: pa.Table, step_seconds: int) -> pa.Table:
    """The columns of the lake's windows, `step_seconds` wide."""
    columns = Columns(windows)
    wide_start = columns["start"] // (step_seconds * MICROSECONDS) * (step_seconds * MICROSECONDS)
    keyed = windows.append_column("wide_start", pa.array(wide_start.astype(np.int64)))
    numbers = key_numbers(keyed, [*QUEUE, "kind", "wide_start"])
    first = first_rows(numbers)
    groups = Groups(numbers, len(first))
    every = np.ones(len(numbers), bool)
    parts, seconds = groups.count_if(every), groups.sum(columns["step_seconds"])
    newest = columns.table.take(pa.array(groups.last(columns["start"], chosen=every)))
    found = columns.table.take(pa.array(first))
    is_short = seconds < step_seconds
    is_unknown = np.isnan(columns["consumed"]) | np.isnan(columns["produced"])
    reason = (
        Texts.of(windows["volume_unknown"])
        .otherwise(VolumeReason.NOT_RECORDED)
        .least(numbers, is_unknown, groups.count)
    )
    return pa.table(
        {
            "cluster": found["cluster"],
            "start": times(wide_start[first]),
            "step_seconds": pa.array(np.full(groups.count, step_seconds, np.int32)),
            **{name: found[name] for name in (*QUEUE[1:], "kind")},
            **{name: newest[name] for name in LAST[:3]},
            **{
                name: arrow(groups.whole_sum(columns[name], every) / parts) for name in ("consume_rate", "produce_rate")
            },
            "readings": pa.array(groups.sum(columns["readings"]).astype(np.int32)),
            "unknown_reason": newest["unknown_reason"],
            **{
                name: whole(np.where(is_short, np.nan, groups.whole_sum(columns[name], every)))
                for name in ("consumed", "produced")
            },
            "volume_unknown": Texts.chosen(
                [(is_short, VolumeReason.PART_MISSING), (~is_short, reason)], groups.count
            ).arrow(),
        }
    )
