"""What is known of stored windows, and what each measure makes of one, whether few groups are looked at or all."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from consumers.alerts.measures.unknown import NO_LAG
from consumers.alerts.preview import windows
from consumers.alerts.preview.values import Grid, Past, judged_moments, step_for
from consumers.lake.store import Lake
from consumers.models import Cluster, GroupWindow, Measure
from consumers.vocabulary.states import UnknownReason
from tests import preview_rows
from tests.preview_rows import HOUR, LAG, a_rule_of, asked, judged, past_values
from tests.world import NOW, a_broker, a_cluster, a_group, ago

MINUTE = 60
PAST = Past(Lake.at("/nowhere"), lambda: None)


@pytest.mark.django_db
@pytest.mark.parametrize("looked_up_costs", [1, 8])
def test_windows_are_those_of_the_range_and_the_groups(monkeypatch: pytest.MonkeyPatch, looked_up_costs: int) -> None:
    monkeypatch.setattr(windows, "LOOKED_UP_COSTS", looked_up_costs)
    cluster = a_cluster()
    billing, audit, other = (a_group(cluster, name) for name in ("billing", "audit", "other"))
    for group, age, step, lag in (
        (billing, 60, 60, 1),
        (billing, 3600, 60, None),
        (billing, 3660, 60, 3),
        (audit, 120, 60, 4),
        (audit, 600, 600, 5),
        (other, 60, 60, 6),
    ):
        GroupWindow.objects.create(group=group, step_seconds=step, start=ago(age), lag_messages=lag, readings=4)
    grid = Grid(ago(3600), NOW, 60)
    places = {billing.pk: 8, audit.pk: 7}
    rows, stored = windows.stored_windows(places, ["lag_messages"], grid, PAST)
    found = [(int(rows[row]), int(column), float(stored["lag_messages"][row, column])) for row, column in known(stored)]
    # A window's value is that of the moment at which it ends.
    assert found == [(7, 58, 4.0), (8, 59, 1.0)]


@pytest.mark.django_db
@pytest.mark.parametrize("nearly_all", [0.0, 0.9])
def test_windows_of_groups_that_are_not_looked_at_are_nobodys(
    monkeypatch: pytest.MonkeyPatch, nearly_all: float
) -> None:
    """Neither of groups between those that are looked at, nor of those before or after all of them."""
    monkeypatch.setattr(windows, "NEARLY_ALL", nearly_all)
    monkeypatch.setattr(windows, "NAMED_AT_ONCE", 0)
    cluster = a_cluster()
    groups = [a_group(cluster, name) for name in ("before", "first", "between", "last", "after")]
    for lag, group in enumerate(groups):
        GroupWindow.objects.create(group=group, step_seconds=60, start=ago(60), lag_messages=lag, readings=4)
    places = {groups[1].pk: 0, groups[3].pk: 1}
    _rows, stored = windows.stored_windows(places, ["lag_messages"], Grid(ago(60), NOW, 60), PAST)
    assert stored["lag_messages"].tolist() == [[1.0], [3.0]]


def known(stored: windows.Stored) -> list[tuple[int, int]]:
    return np.argwhere(~np.isnan(stored["lag_messages"])).tolist()


@pytest.mark.django_db
@pytest.mark.parametrize("at_once", [6_000_000, 240])
def test_what_is_known_is_counted_by_subject_and_by_day(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, at_once: int
) -> None:
    """Also where one subject alone is held at once."""
    monkeypatch.setattr(windows, "VALUES_AT_ONCE", at_once)
    cluster = a_cluster()
    # Four hours: the first of them is of the day before.
    calm, high, own = (a_group(cluster, name) for name in ("calm", "high", "own"))
    a_group(cluster, "gone")
    preview_rows.windows(calm, [100] * 200 + [None] * 10 + [0] * 30)
    preview_rows.windows(high, [0] * 239 + [101])
    preview_rows.windows(own, [150] * 120 + ["gap"] * 120)
    rule = a_rule_of(**(LAG | {"for_seconds": 0.0}), overrides=[{"group_pattern": "own", "threshold": 200.0}])
    result = asked(tmp_path, rule, seconds=4 * HOUR)
    assert [one["subject"]["group"] for one in result["incidents"]] == ["high"]
    assert (result["unknown_subjects"], result["unknown_share"]) == (1, pytest.approx(1 - (230 + 240 + 120) / 960))
    # Of the day before the moments from 23:01 to 23:59.
    assert [day["unknown_share"] for day in result["per_day"]] == [
        pytest.approx(1 / 4),
        pytest.approx(1 - (171 + 181 + 61) / (4 * 181)),
    ]


@pytest.mark.django_db
def test_moments_at_which_any_group_that_it_selects_is_known_are_told(tmp_path: Path) -> None:
    cluster = a_cluster()
    preview_rows.windows(a_group(cluster, "one"), ["gap"] * 6 + [0, None, 0, 0])
    preview_rows.windows(a_group(cluster, "other"), ["gap"] * 5 + [0, 0, "gap", "gap", "gap"])
    preview_rows.windows(a_group(cluster, "not-selected"), [0] * 10)
    result = asked(tmp_path, a_rule_of(**LAG, group_pattern="o*"), seconds=600)
    assert (result["known_seconds"], result["unknown_seconds"]) == (240, 360)


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
    assert _seen(Measure.DRAIN, fields, lambda value: value > 100.0) == (known, is_calm)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reason", "known", "is_calm"),
    [(UnknownReason.BROKER_UNREAD, 3, True), (sorted(NO_LAG)[0], 4, True), ("of its own", 4, False), (None, 4, False)],
)
def test_what_is_not_known_for_a_cause_of_its_own_is_not_calm(reason: str | None, known: int, is_calm: bool) -> None:
    found = _seen(Measure.UNKNOWN, {"lag_messages": None, "unknown_reason": reason}, lambda value: value > 0.0)
    assert found == (known, is_calm)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kept", "fields", "known", "is_calm"),
    [
        ((72,), {"lag_messages": 5, "time_lag_seconds": 68 * HOUR}, 4, True),
        ((72,), {"lag_messages": 5, "time_lag_seconds": 68 * HOUR + 1}, 4, False),
        ((72,), {"lag_messages": 5, "time_lag_seconds": None}, 3, True),
        # Nothing waits, and messages are kept for less than the threshold.
        ((3,), {"lag_messages": 0, "time_lag_seconds": None}, 4, False),
        # Which of the two the message waits on is not known; while nothing waits, the shorter is told.
        ((72, 48), {"lag_messages": 5, "time_lag_seconds": 1.0}, 3, True),
    ],
)
def test_what_waits_for_so_long_expires_so_soon(
    kept: tuple[int, ...], fields: dict[str, Any], known: int, is_calm: bool
) -> None:
    cluster = a_cluster()
    for number, hours in enumerate(kept):
        a_broker(cluster, f"broker-{number}", file_reserved_hours=hours)
    assert _seen(Measure.EXPIRY, fields, lambda value: value < 4.0 * HOUR, cluster) == (known, is_calm)


MINUTES = 12


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kept", "rises", "step", "expected", "why"),
    [
        (72, 1.0, MINUTE, 71.0 * HOUR, "nothing is consumed: an hour of three days is over"),
        (72, 0.5, MINUTE, 142.0 * HOUR, "half of what is produced is consumed"),
        (72, 0.0, MINUTE, 720.0 * HOUR, "the time lag does not rise"),
        (72, -0.5, MINUTE, 720.0 * HOUR, "the lag drains"),
        (1, 0.0, MINUTE, 0.0, "messages may be deleted already"),
        (None, 1.0, MINUTE, None, "no broker reports its retention"),
        (72, 0.5, 10 * MINUTE, 142.0 * HOUR, "windows of ten minutes: from one to the next"),
    ],
)
def test_messages_expire_unconsumed_as_fast_as_the_time_lag_rises(
    kept: int | None, rises: float, step: int, expected: float | None, why: str
) -> None:
    cluster = a_cluster()
    a_broker(cluster, file_reserved_hours=kept)
    group = a_group(cluster, "billing")
    lags = [HOUR - rises * step * (MINUTES - 1 - number) for number in range(MINUTES)]
    preview_rows.windows(group, lags, step=step, field="time_lag_seconds", lag_messages=9)
    grid = Grid(ago(step), NOW, step)
    (found,) = past_values(Measure.EXPIRES_UNCONSUMED, {group.pk: 0}, grid, PAST)
    assert [None if np.isnan(value) else round(value) for value in found.value[0]] == [expected], why


@pytest.mark.django_db
@pytest.mark.parametrize(("consume_rate", "expected"), [(0.0, 71.0 * HOUR), (0.5, 142.0 * HOUR)])
def test_messages_of_a_group_that_consumes_nothing_age_as_time_goes_by(consume_rate: float, expected: float) -> None:
    cluster = a_cluster()
    a_broker(cluster, file_reserved_hours=72)
    group = a_group(cluster, "billing")
    lags = [HOUR - 0.5 * MINUTE * (MINUTES - 1 - number) for number in range(MINUTES)]
    preview_rows.windows(group, lags, field="time_lag_seconds", lag_messages=9, consume_rate=consume_rate)
    (found,) = past_values(Measure.EXPIRES_UNCONSUMED, {group.pk: 0}, Grid(ago(MINUTE), NOW, MINUTE), PAST)
    assert [round(value) for value in found.value[0]] == [expected]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "expected", "why"),
    [
        ([*[HOUR] * 11, 3 * HOUR], 720.0 * HOUR, "a single spike is no trend"),
        ([*[HOUR] * 9, "gap", HOUR, HOUR], None, "a window is missing"),
        ([0.0] * 12, 720.0 * HOUR, "the time lag is within its threshold"),
    ],
)
def test_a_trend_is_that_of_ten_minutes(values: list[Any], expected: float | None, why: str) -> None:
    cluster = a_cluster()
    a_broker(cluster, file_reserved_hours=72)
    group = a_group(cluster, "billing")
    preview_rows.windows(group, values, field="time_lag_seconds", lag_messages=9)
    (found,) = past_values(Measure.EXPIRES_UNCONSUMED, {group.pk: 0}, Grid(ago(MINUTE), NOW, MINUTE), PAST)
    assert [None if np.isnan(value) else round(value) for value in found.value[0]] == [expected], why


def _seen(measure: Measure, fields: dict[str, Any], holds: Any, cluster: Cluster | None = None) -> tuple[int, bool]:
    """How many values are known, and whether none holds, of a group that is well in three windows, and as `fields` say
    in the last of four."""
    group = a_group(cluster or a_cluster(), "billing")
    preview_rows.windows(group, [0, 0, 0, "gap"], time_lag_seconds=0.0, consume_rate=3.0, produce_rate=2.0)
    last = {name: said for name, said in fields.items() if name != "lag_messages"}
    preview_rows.windows(group, [fields["lag_messages"]], **last)
    (found,) = past_values(measure, {group.pk: 0}, Grid(ago(4 * MINUTE), NOW, MINUTE), PAST)
    return int((~np.isnan(found.value)).sum()), not holds(found.value).any()


@pytest.mark.django_db
def test_a_judgement_holds_for_a_while() -> None:
    judged(600, 570, 300)
    grid = Grid(ago(900), NOW, MINUTE)
    ages = [round((grid.last_us - at) / 60e6) for at in grid.at_us[judged_moments(grid, timedelta(seconds=120))]]
    assert ages == [10, 9, 8, 5, 4]


@pytest.mark.parametrize(
    ("subjects", "days", "finest", "step"),
    [(148, 7, 60, 60), (149, 7, 60, 600), (1, 30, 600, 600), (1000, 1, 60, 60), (10_000, 7, 60, 3600)],
)
def test_steps_are_as_narrow_as_the_number_of_values_lets_them_be(
    subjects: int, days: int, finest: int, step: int
) -> None:
    assert step_for(subjects, NOW - timedelta(days=days), NOW, finest) == step


def test_a_grid_is_of_whole_steps() -> None:
    grid = Grid.of(NOW - timedelta(seconds=1799), NOW + timedelta(seconds=59), 600)
    assert (grid.since, grid.until, grid.count) == (NOW - timedelta(seconds=1200), NOW, 2)


@pytest.mark.parametrize(("age", "moments"), [(1300, 2), (1200, 2), (1199, 2), (600, 1), (599, 1), (0, 0)])
def test_moments_after_something_was_first_seen(age: float, moments: int) -> None:
    assert Grid(NOW - timedelta(seconds=1200), NOW, 600).moments_from(ago(age)) == moments
