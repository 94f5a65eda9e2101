"""What the bench of previews makes of the numbers that it is told, and of what it looks at."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.models import ConsumerGroup, GroupWindow
from tests.bench.pipeline.preview import _lines
from tests.bench.pipeline.preview_runs import _write_windows
from tests.world import NOW, a_cluster, a_group

WARM = {"seconds": 4.0, "fired": 14, "floor": 1.0}
SIZES = {"windows": 100_800, "step": 600, "expected": 14, "peak_mb": 200}
TOLD: dict[str, Any] = {**SIZES, "cold": 20.0, "warm": {"drain_seconds": WARM}}


def test_each_number_stands_beside_what_it_is_measured_by() -> None:
    assert [(one.name, one.ours, one.beside_value) for one in _lines(TOLD, "100 groups")] == [
        ("100 groups: the first of a process", 20.0, 60.0),
        ("100 groups: drain_seconds", 4.0, 1.0),
    ]


def test_a_preview_that_found_something_else_is_no_measurement() -> None:
    with pytest.raises(SystemExit, match="0 firings, not 14: the time says nothing"):
        _lines(TOLD | {"warm": {"drain_seconds": WARM | {"fired": 0}}}, "100 groups")


@pytest.mark.django_db
def test_the_first_group_is_behind_for_an_hour_each_day() -> None:
    cluster = a_cluster()
    for name in ("audit", "billing"):
        a_group(cluster, name)
    keys = list(ConsumerGroup.objects.order_by("pk").values_list("pk", flat=True))
    assert _write_windows(keys, 600, NOW) == 2 * 7 * 144
    behind = GroupWindow.objects.filter(time_lag_seconds__gt=600)
    assert set(behind.values_list("group", flat=True)) == {keys[0]}
    assert behind.count() == 7 * 6
    assert GroupWindow.objects.order_by("start").last().start == NOW - timedelta(seconds=600)
