"""Subjects that never hold are counted without being walked through."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from consumers.alerts.measures.unknown import NO_LAG
from consumers.alerts.preview.calm import Calm, calm_of_spans
from consumers.alerts.preview.calm_windows import calm_windows
from consumers.alerts.preview.days import day_number
from consumers.alerts.preview.grid import Grid
from consumers.alerts.preview.judged import judged_moments
from consumers.models import Cluster, Measure
from consumers.pipeline.kernel.group_windows import NOT_READ
from consumers.pipeline.slices import microseconds
from tests.preview_rows import HOUR, judged, windows
from tests.world import NOW, a_broker, a_cluster, a_group, ago

MINUTE = 60
TODAY = day_number(datetime(2026, 3, 14, tzinfo=UTC))
MIDNIGHT_US = microseconds(datetime(2026, 3, 14, tzinfo=UTC))


def test_spans_are_counted_by_subject_and_by_day():
    moments = [MIDNIGHT_US + number for number in (-3, -2, -1, 0, 1)]
    spans = [
        (7, moments[1], moments[3]),
        (7, moments[4], moments[4] + 1),
        (8, moments[0], moments[0]),
        (9, 0, moments[1]),
    ]
    found = calm_of_spans(spans, moments)
    # At the one but last nothing is.
    assert found.known_at == {*moments} - {moments[3]}
    assert (dict(found.known), {day: count for day, count in found.known_on.items() if count}) == (
        {7: 3, 9: 1},
        {TODAY - 1: 3, TODAY: 1},
    )


def test_others_are_counted_with_them():
    one, other = Calm({1: 5}, {TODAY: 5}, frozenset({8, 9})), Calm({2: 3}, {TODAY: 2, TODAY - 1: 1}, frozenset({7, 8}))
    both = one.and_of(other)
    assert (both.known, dict(both.known_on), both.known_at) == (
        {1: 5, 2: 3},
        {TODAY: 7, TODAY - 1: 1},
        {7, 8, 9},
    )


@pytest.mark.django_db
@pytest.mark.parametrize("named_at_once", [500, 1])
def test_groups_whose_windows_stay_below_their_threshold_are_calm(named_at_once):
    cluster = a_cluster()
    # Four hours: the first of them is of the day before.
    calm, high, own, gone = (a_group(cluster, name) for name in ("calm", "high", "own", "gone"))
    windows(calm, [100] * 200 + [None] * 10 + [0] * 30)
    windows(high, [0] * 239 + [101])
    windows(own, [150] * 240)
    windows(a_group(cluster, "other"), [0] * 240)
    places = {group.pk: place for place, group in enumerate((calm, high, own, gone))}
    grid = Grid(ago(240 * MINUTE), NOW, MINUTE)
    found = calm_windows(Measure.LAG, {0: 100.0, 1: 100.0, 2: 200.0, 3: 0.0}, places, grid, named_at_once)
    assert found.known == {0: 230, 2: 240, 3: 0}
    # Of the day before the moments from 23:01 to 23:59.
    assert found.known_on == {TODAY - 1: 2 * 59, TODAY: 171 + 181}


@pytest.mark.django_db
@pytest.mark.parametrize("named_at_once", [500, 1])
def test_moments_at_which_a_calm_group_is_known_are_told(named_at_once):
    """Ten minutes; a window's value is known at its end."""
    cluster = a_cluster()
    one, other, high = (a_group(cluster, name) for name in ("one", "other", "high"))
    windows(one, ["gap"] * 6 + [0, None, 0, 0])
    windows(other, ["gap"] * 5 + [0, 0, "gap", "gap", "gap"])
    # What is walked through is not told here.
    windows(high, ["gap"] * 6 + [500, "gap", "gap", "gap"])
    places = {group.pk: place for place, group in enumerate((one, other, high))}
    grid = Grid(ago(10 * MINUTE), NOW, MINUTE)
    found = calm_windows(Measure.LAG, dict.fromkeys(range(3), 100.0), places, grid, named_at_once)
    assert sorted((microseconds(NOW) - at) / 60e6 for at in found.known_at) == [0, 1, 3, 4]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "known", "is_calm"),
    [
        ({"lag_messages": 100, "consume_rate": 3.0, "produce_rate": 2.0}, 4, True),
        ({"lag_messages": 101, "consume_rate": 3.0, "produce_rate": 2.0}, 4, False),
        ({"lag_messages": 0, "consume_rate": None, "produce_rate": 2.0}, 4, True),
        ({"lag_messages": 9, "consume_rate": 2.0, "produce_rate": 2.0}, 3, True),
        ({"lag_messages": None, "consume_rate": 3.0, "produce_rate": 2.0}, 3, True),
    ],
)
def test_one_window_tells_how_long_a_group_drains(fields: dict[str, Any], known: int, is_calm: bool) -> None:
    assert _calm(Measure.DRAIN, 100.0, fields) == ({0: known} if is_calm else {})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reason", "known", "is_calm"),
    [(NOT_READ, 3, True), (sorted(NO_LAG)[0], 4, True), ("of its own", 4, False), (None, 4, False)],
)
def test_what_is_not_known_for_a_cause_of_its_own_is_not_calm(reason: str | None, known: int, is_calm: bool) -> None:
    found = _calm(Measure.UNKNOWN, 100.0, {"lag_messages": None, "unknown_reason": reason})
    assert found == ({0: known} if is_calm else {})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kept", "fields", "known", "is_calm"),
    [
        ((72,), {"lag_messages": 5, "time_lag_seconds": 68 * HOUR}, 4, True),
        ((72,), {"lag_messages": 5, "time_lag_seconds": 68 * HOUR + 1}, 4, False),
        ((72,), {"lag_messages": 5, "time_lag_seconds": None}, 3, True),
        # Nothing waits, and messages are kept for less than the threshold.
        ((3,), {"lag_messages": 0, "time_lag_seconds": None}, 4, False),
        ((72, 48), {"lag_messages": 5, "time_lag_seconds": 1.0}, 4, False),
    ],
)
def test_what_waits_for_so_long_expires_so_soon(
    kept: tuple[int, ...], fields: dict[str, Any], known: int, is_calm: bool
) -> None:
    cluster = a_cluster()
    for number, hours in enumerate(kept):
        a_broker(cluster, f"broker-{number}", file_reserved_hours=hours)
    found = _calm(Measure.EXPIRY, 4.0 * HOUR, fields, cluster)
    assert found == ({0: known} if is_calm else {})


def _calm(measure: Measure, threshold: float, fields: dict[str, Any], cluster: Cluster | None = None) -> dict[int, int]:
    """Of a group that is well in three windows, and as `fields` say in the last of four."""
    group = a_group(cluster or a_cluster(), "billing")
    windows(group, [0, 0, 0, "gap"], time_lag_seconds=0.0, consume_rate=3.0, produce_rate=2.0)
    windows(group, [fields["lag_messages"]], **{name: said for name, said in fields.items() if name != "lag_messages"})
    grid = Grid(ago(4 * MINUTE), NOW, MINUTE)
    return dict(calm_windows(measure, {0: threshold}, {group.pk: 0}, grid, 500).known)


@pytest.mark.django_db
def test_a_judgement_holds_for_a_while():
    judged(600, 570, 300)
    moments = judged_moments(Grid(ago(900), NOW, MINUTE), timedelta(seconds=120))
    assert [(NOW - ago(0)).total_seconds() + (microseconds(NOW) - at) / 60e6 for at in moments] == [10, 9, 8, 5, 4]
