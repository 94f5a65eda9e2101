"""What rules look at is in /metrics, with the value that rules see."""

from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from consumers.alerts.measures.registry import measured
from consumers.lake.store import Lake
from consumers.models import Measure
from tests.alert_rows import a_rule
from tests.dashboard.metrics.watched import a_watched_world
from tests.exposition_parser import Samples, parsed
from tests.world import NOW

pytestmark = pytest.mark.django_db
NAMES = {"rebalance_episodes_hour": "rebalances_hour"}
BEHIND_ALL = ("state", "unknown_seconds")


@pytest.fixture
def samples(api: Client, settings: Any, tmp_path: Path) -> Samples:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    with time_machine.travel(NOW, tick=False):
        a_watched_world(Lake.at(str(tmp_path)))
        return parsed(b"".join(api.get("/metrics").streaming_content).decode())  # type: ignore[attr-defined]


def of_groups(samples: Samples, name: str) -> dict[str, float]:
    return {dict(labels)["group"]: value for (family, labels), value in samples.items() if family == name}


def test_every_number_of_groups_that_rules_look_at_is_there_as_they_see_it(samples: Samples) -> None:
    rules = [a_rule(measure.value, measure=measure) for measure in Measure]
    table = measured(NOW, rules).groups
    numbers = {
        measure: column
        for measure, column in table.columns.items()
        if isinstance(measure, Measure) and measure.value not in BEHIND_ALL
    }
    assert len(numbers) == 16
    for measure, column in numbers.items():
        seen = zip((subject.group for subject in table.subjects), column.values, strict=True)
        family = f"consumerscope_group_{NAMES.get(measure.value, measure.value)}"
        assert of_groups(samples, family) == {group: value for group, value in seen if value is not None}, family


def test_what_came_again_is_counted_where_its_cause_is_sure(samples: Samples) -> None:
    assert of_groups(samples, "consumerscope_group_repeat_events_hour")["stopped"] == 1
    assert of_groups(samples, "consumerscope_group_redelivered_messages_hour")["stopped"] == 42


@pytest.mark.parametrize(
    ("name", "value"),
    [("unowned_queues", 2), ("doubly_owned_queues", 1), ("blocked_seconds", 900), ("unsettled_seconds", 860)],
)
def test_it_tells_who_holds_what(samples: Samples, name: str, value: float) -> None:
    assert of_groups(samples, f"consumerscope_group_{name}")["shared"] == value


def test_it_says_whom_rules_leave_alone(samples: Samples) -> None:
    suppressed = [dict(labels) for name, labels in samples if name == "consumerscope_group_excluded"]
    assert suppressed == [{"cluster": "prod", "group": "paused", "reason": "paused"}]
