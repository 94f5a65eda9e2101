"""For how long members had been changing, at each moment: rebalances, and the readings that they were found by."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import zip_longest

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from consumers.models import ConsumerGroup, Rebalance
from consumers.pipeline.slices import microseconds
from consumers.selectors.rebalances.filters import LONGEST
from consumers.selectors.rebalances.unread_spans import Span, unread_spans
from consumers.selectors.rebalances.unsettled import (
    Newest,
    comings,
    enough,
    is_over_by,
    is_rollout,
    quiet,
    seldom_asked,
    told_until,
)

from .calm import Calm, calm_of_spans
from .grid import Grid, sampled

PIECES = pa.schema(
    [("place", pa.int32()), *[(f"{name}_us", pa.int64()) for name in ("from", "to", "since", "last")]]
).append(pa.field("spared", pa.bool_()))


@dataclass(frozen=True)
class Piece:
    """In [begin, end) the value is what has passed since `since`, at the last change at most: 0 where they are one."""

    begin: datetime
    end: datetime
    since: datetime
    last: datetime
    is_rollout: bool = False


def unsettled_values(
    spark: SparkSession, places: Mapping[int, int], grid: Grid, judged: Sequence[int]
) -> tuple[DataFrame, Calm]:
    """place, at_us, value, since_us, and spared: it was a rollout. Groups without a rebalance are calm.

    Of groups whose members were never asked for nobody can say that they did not change.
    """
    asked = ConsumerGroup.objects.filter(membership_at__isnull=False).values_list("pk", flat=True)
    watched = {group for group in asked if group in places}
    spans = unread_spans(watched, grid.since - LONGEST, grid.until, quiet())
    found = _rebalances(watched, grid)
    rest = (
        (places[group], microseconds(one.begin), microseconds(one.end))
        for group in watched - found.keys()
        for one in read_only([_rest(grid.since, _after(grid))], spans.get(group, ()))
    )
    calm = calm_of_spans(rest, judged)
    rows = [
        {"place": places[group], **_row(one)}
        for group, own in found.items()
        for one in read_only(pieces(own, grid.since, _after(grid)), spans.get(group, ()))
    ]
    moments = spark.createDataFrame(pa.table({"at_us": pa.array(judged, pa.int64())}))
    values = sampled(spark.createDataFrame(pa.Table.from_pylist(rows, PIECES)), grid)
    value = (F.least("at_us", "last_us") - F.col("since_us")) / 1e6
    known = values.join(F.broadcast(moments), on="at_us", how="left_semi")
    since = F.when(value > 0, F.col("since_us")).alias("since_us")
    return known.select("place", "at_us", value.alias("value"), since, "spared"), calm


def pieces(found: Sequence[tuple[Newest, bool]], since: datetime, until: datetime) -> Iterator[Piece]:
    """`found`: the rebalances of one group in order, and whether each is a rollout. Where nobody knows is none."""
    begin = since
    for (row, rollout), later in zip_longest(found, found[1:]):
        end = until if later is None else later[0].started_before
        yield _rest(begin, row.started_before)
        begin = max(since, min(end, is_over_by(row)))
        if not seldom_asked(row):
            told = min(begin, told_until(row))
            yield Piece(max(since, row.started_before), told, row.episode_since, row.last_change_at, rollout)
    yield _rest(begin, until)


def read_only(found: Iterable[Piece], spans: Sequence[Span]) -> Iterator[Piece]:
    """Less what was not read: after that an episode counts from its end, once that is long enough to tell."""
    for piece in found:
        left: Piece | None = piece
        for before, after in spans:
            if left is None or before >= left.end:
                break
            if after > left.since:
                yield replace(left, end=min(left.end, before))
                left = _read_again(left, after)
        if left is not None:
            yield left


def _read_again(piece: Piece, after: datetime) -> Piece | None:
    if piece.since == piece.last:
        return _rest(max(piece.begin, after), piece.end)
    if piece.last - after < enough():
        return None
    return replace(piece, begin=max(piece.begin, after + enough()), since=after)


def _rest(begin: datetime, end: datetime) -> Piece:
    return Piece(begin, end, begin, begin)


def _after(grid: Grid) -> datetime:
    return grid.until + timedelta(microseconds=1)


def _row(one: Piece) -> dict[str, int | bool]:
    times = {"from": one.begin, "to": one.end, "since": one.since, "last": one.last}
    return {**{f"{name}_us": microseconds(at) for name, at in times.items()}, "spared": one.is_rollout}


def _rebalances(watched: Iterable[int], grid: Grid) -> dict[int, list[tuple[Newest, bool]]]:
    """Those that may count within the range, by group and in order."""
    begun = Rebalance.objects.filter(started_before__gte=grid.since - LONGEST, started_before__lt=grid.until)
    wanted = set(watched)
    rows = [
        Newest._make(values)
        for values in begun.order_by("started_before").values_list(*Newest._fields).iterator()
        if values[0] in wanted
    ]
    since: dict[int, datetime] = {}
    for row in rows:
        if row.rollout:
            since[row.group_id] = min(row.episode_since, since.get(row.group_id, row.episode_since))
    came = {group: sorted(times) for group, times in comings(since).items()}
    found: dict[int, list[tuple[Newest, bool]]] = {}
    for row in rows:
        times = came.get(row.group_id, [])
        own = times[bisect_left(times, row.episode_since) : bisect_right(times, row.last_change_at)]
        found.setdefault(row.group_id, []).append((row, is_rollout(row, own)))
    return found
