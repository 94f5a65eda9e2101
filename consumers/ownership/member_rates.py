"""What each member of a group reports of itself over time: messages per second, their times, and what it holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext

from consumers.lake.one_group import TooManyRows, read_group
from consumers.lake.store import Lake
from consumers.models import Client, ConsumerGroup
from consumers.pipeline.upkeep import STEPS, retentions
from consumers.queries.declared import answer, public
from consumers.queries.history import ROWS_OF_A_POINT, as_list
from consumers.queries.windows import TooManyPoints, WindowRange, window_range
from consumers.vocabulary.reasons import ReasonCode
from consumers.words.reasons import coded_reason, stored_words

TABLE = "member_rates"
# Means over the answers of a window; the times are means over their messages.
TPS = ("consume_ok_tps", "consume_failed_tps", "pull_tps")
# A time, and the rates of what took it: one of no message is none (RocketMQ 5.4.0, ConsumerStatsManager.consumeStatus,
# gives that of the last hour then).
OF_TIMES = {"consume_rt": ("consume_ok_tps", "consume_failed_tps"), "pull_rt": ("pull_tps",)}
# The most that an answer of the window counted.
CACHED = ("cached_count", "cached_mib")
COLUMNS = ("taken_at", "client_id", "error", "topic", *TPS, *OF_TIMES, *CACHED)
WHOLE = pc.ScalarAggregateOptions(skip_nulls=False)


class MemberPoint(NamedTuple):
    """One window from `at`. `unknown_reason` says why nothing is known of the member in it, `unknown` why a number of
    a window with answers is null.
    """

    at: datetime
    consume_ok_tps: float | None = None
    consume_failed_tps: float | None = None
    consume_rt_ms: float | None = None
    pull_tps: float | None = None
    pull_rt_ms: float | None = None
    cached_messages: int | None = None
    cached_mib: int | None = None
    answers: int = 0
    unknown_reason: str | None = None
    unknown: Mapping[str, str] = {}


NUMBERS = MemberPoint._fields[1:8]
# The columns of NUMBERS.
STORED = dict(
    zip(
        NUMBERS,
        ("consume_ok_tps", "consume_failed_tps", "consume_rt", "pull_tps", "pull_rt", "cached_count", "cached_mib"),
        strict=True,
    )
)


@dataclass(frozen=True)
class MemberSeries:
    client_id: str
    points: list[MemberPoint]


@answer("Every window of the range is present; a window without an answer of the member has nulls and the reason.")
@dataclass(frozen=True)
class MemberRates:
    since: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public(name="to"))
    step_seconds: int = field(metadata=public(of=STEPS))
    series: list[MemberSeries]


def member_rates(
    group: ConsumerGroup,
    *,
    since: datetime,
    until: datetime,
    now: datetime,
    step_seconds: int | None = None,
    topic: str | None = None,
    client_id: str | None = None,
) -> MemberRates:
    """Of the members that were listed within the range, by client id. Without a topic: over all that they report.

    Raises RangeError for a range of no use, and where members have more windows than HISTORY_POINTS. One query, and the
    files of the range.
    """
    windows = window_range(since, until, step_seconds, now=now)
    listed = _listed(group, windows, client_id)
    _refuse_too_many(windows, len(listed))
    found = _rows(group, windows, {"client_id": client_id} if client_id else {})
    numbers, errors = _numbers(found, topic), _errors(found)
    kept_since = now - retentions()[TABLE]
    series = []
    for member in sorted(listed):
        gaps = _Gaps(windows, listed[member], errors.get(member, {}), kept_since)
        points = [_point(at, numbers.get((member, place)), gaps, place) for place, at in enumerate(windows.starts)]
        series.append(MemberSeries(member, points))
    return MemberRates(windows.start, windows.until, windows.step_seconds, series)


def _refuse_too_many(windows: WindowRange, members: int) -> None:
    if members * windows.count > settings.HISTORY_POINTS:
        raise TooManyPoints(
            gettext(
                "%(members)s members × %(windows)s windows are more than %(most)s points (HISTORY_POINTS). Use a "
                "longer step, a shorter range, or name a member."
            )
            % {"members": members, "windows": f"{windows.count:,}", "most": f"{settings.HISTORY_POINTS:,}"}
        )


Spans = list[tuple[datetime, datetime | None]]  # null: to this day


def _listed(group: ConsumerGroup, windows: WindowRange, client_id: str | None) -> dict[str, Spans]:
    """From when to when brokers listed each member, as far as that touches the range. One query."""
    rows = Client.objects.filter(
        Q(gone_by=None) | Q(gone_by__gt=windows.start), group=group, seen_since__lt=windows.until
    )
    if client_id is not None:
        rows = rows.filter(client_id=client_id)
    spans: dict[str, Spans] = {}
    for member, begun, ended in rows.order_by("seen_since").values_list("client_id", "seen_since", "gone_by"):
        spans.setdefault(member, []).append((begun, ended))
    return spans


def _rows(group: ConsumerGroup, windows: WindowRange, equal: Mapping[str, object]) -> pa.Table:
    """COLUMNS, and the `place` of the window."""
    lake, most = Lake.at(settings.CONSUMERSCOPE_LAKE), settings.HISTORY_POINTS * ROWS_OF_A_POINT
    span = (windows.start, windows.until)
    try:
        found = read_group(lake, TABLE, group.cluster.name, group.name, *span, COLUMNS, equal=equal, most_rows=most)
    except TooManyRows:
        sentence = gettext(
            "Members answered more than %(most)s times in this range. Use a shorter range, or name a member."
        ) % {"most": f"{most:,}"}
        raise TooManyPoints(sentence) from None
    seconds = pc.cast(found["taken_at"], pa.int64()).to_numpy() // 1_000_000
    place = (seconds - int(windows.start.timestamp())) // windows.step_seconds
    return found.append_column("place", pa.array(place))


def _errors(found: pa.Table) -> dict[str, dict[int, str]]:
    """Why a member did not answer, by its id and the place of the window; the newest error of each."""
    failed = found.filter(pc.is_valid(found["error"])).sort_by("taken_at")
    errors: dict[str, dict[int, str]] = {}
    for member, place, error in zip(*(as_list(failed[name]) for name in ("client_id", "place", "error")), strict=True):
        errors.setdefault(member, {})[place] = error
    return errors


def _numbers(found: pa.Table, topic: str | None) -> dict[tuple[str, int], dict[str, Any]]:
    """The columns of NUMBERS with `answers`, by client id and the place of the window, where it answered."""
    answered = found.filter(pc.is_null(found["error"]))
    counted = answered.group_by(["client_id", "place"]).aggregate([("taken_at", "count_distinct")])
    keys = zip(*(as_list(counted[name]) for name in ("client_id", "place", "taken_at_count_distinct")), strict=True)
    numbers: dict[tuple[str, int], dict[str, Any]] = {
        (member, place): {"answers": answers} for member, place, answers in keys
    }
    reported = answered.filter(pc.is_valid(answered["topic"]) if topic is None else pc.equal(answered["topic"], topic))
    for row in _of_windows(reported).to_pylist():
        numbers[row.pop("client_id"), row.pop("place")] |= row
    return numbers


def _of_windows(reported: pa.Table) -> pa.Table:
    for time, rates in OF_TIMES.items():
        handled = reported[rates[0]]
        for rate in rates[1:]:
            handled = pc.add(handled, reported[rate])
        reported = reported.append_column(f"{time}_of", handled)
        reported = reported.append_column(f"{time}_sum", pc.multiply(reported[time], handled))
    weights = [f"{time}_{part}" for time in OF_TIMES for part in ("of", "sum")]
    summed = (*TPS, *CACHED, *weights)
    # First over the topics of an answer, then over the answers of a window.
    each = reported.group_by(["client_id", "place", "taken_at"]).aggregate([(name, "sum", WHOLE) for name in summed])
    each = each.rename_columns(
        [name.removesuffix("_sum") if name[:-4] in summed else name for name in each.column_names]
    )
    asked = [(name, "mean", WHOLE) for name in TPS] + [(name, "max", WHOLE) for name in CACHED]
    found = each.group_by(["client_id", "place"]).aggregate([*asked, *((name, "sum", WHOLE) for name in weights)])
    columns = {"client_id": found["client_id"], "place": found["place"]}
    columns |= {name: found[f"{name}_mean"] for name in TPS} | {name: found[f"{name}_max"] for name in CACHED}
    for time in OF_TIMES:
        handled, total = (found[f"{time}_{part}_sum"] for part in ("of", "sum"))
        columns[time] = pc.if_else(pc.greater(handled, 0), pc.divide(total, handled), None)
    return pa.table(columns)


@dataclass(frozen=True)
class _Gaps:
    """Why a member has no answer in a window."""

    windows: WindowRange
    listed: Spans
    errors: Mapping[int, str]
    kept_since: datetime

    def reason(self, place: int) -> str:
        start = self.windows.starts[place]
        end = start + timedelta(seconds=self.windows.step_seconds)
        if not any(begun < end and (ended is None or ended > start) for begun, ended in self.listed):
            return coded_reason(ReasonCode.NOT_A_MEMBER)
        if place in self.errors:
            return stored_words(self.errors[place])
        if end <= self.kept_since:
            return coded_reason(ReasonCode.MEMBER_RATES_EXPIRED, days=f"{retentions()[TABLE] / timedelta(days=1):g}")
        return coded_reason(ReasonCode.MEMBER_NOT_ASKED)


def _point(at: datetime, row: Mapping[str, Any] | None, gaps: _Gaps, place: int) -> MemberPoint:
    if row is None:
        return MemberPoint(at, unknown_reason=gaps.reason(place))
    values = {name: row.get(stored) for name, stored in STORED.items()}
    unknown = {name: _why(name, row) for name, value in values.items() if value is None}
    return MemberPoint(at, **values, answers=row["answers"], unknown=unknown)


def _why(name: str, row: Mapping[str, Any]) -> str:
    rates = OF_TIMES.get(STORED[name])
    if rates and all(row.get(rate) is not None for rate in rates):
        return coded_reason(ReasonCode.NO_MESSAGE_IN_WINDOW)
    return coded_reason(ReasonCode.MEMBER_DOES_NOT_REPORT)
