"""For how long members have been changing, as rules see it: 0 where they rest, and a rollout is left alone."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.models import Cluster, ConsumerGroup, Incident, Measure, PipelineRun
from tests.alert_rows import a_rule
from tests.consumers.alerts.measures.group_rows import a_behind_group, a_judged_cluster, column, of_group
from tests.rebalance_rows import a_crash_loop, a_rebalance, read_every
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db
# What was read was judged until 59 s ago.
GOES_ON: dict[str, Any] = {"settled_at": None, "last_change_at": ago(65), "polls": 63}


@pytest.fixture
def cluster() -> Cluster:
    cluster = a_judged_cluster()
    read_every(15, cluster, 2000, 5)
    return cluster


@pytest.fixture
def group(cluster: Cluster) -> ConsumerGroup:
    return a_behind_group(cluster)


def fired() -> list[str]:
    evaluate(NOW, lambda: NOW)
    return list(Incident.objects.exclude(fired_at=None).values_list("rule_name", flat=True))


@pytest.fixture
def rule() -> None:
    a_rule("Without end", measure="unsettled_seconds", comparison="above", threshold=600.0, for_seconds=0)


def test_a_crash_loop_every_forty_seconds_is_told(group: ConsumerGroup, rule: None) -> None:
    a_crash_loop(group, 1000, every=40, until=60)
    assert of_group(Measure.UNSETTLED) == (
        895.0,
        "the members have been changing for 14 min",
    )
    assert column(Measure.UNSETTLED).since(0) == ago(1000)
    assert fired() == ["Without end"]


def test_a_rollout_has_its_time_and_is_left_alone(group: ConsumerGroup, rule: None) -> None:
    a_rebalance(group, ago(1000), rollout=True, **GOES_ON)
    assert of_group(Measure.UNSETTLED) == (935.0, "rollout: each member restarts once")
    assert fired() == []


def test_a_gap_in_readings_makes_it_unknown(cluster: Cluster, group: ConsumerGroup, rule: None) -> None:
    a_rebalance(group, ago(1000), **GOES_ON)
    cluster.readings.filter(taken_at__gt=ago(500), taken_at__lt=ago(400)).delete()
    value, reason = of_group(Measure.UNSETTLED)
    assert (value, reason.endswith("the group may have come to rest meanwhile")) == (None, True)
    assert fired() == []


def test_members_that_do_not_change_have_come_to_rest(group: ConsumerGroup) -> None:
    a_rebalance(group, ago(600))
    assert of_group(Measure.UNSETTLED) == (0.0, "the members are stable")
    assert column(Measure.UNSETTLED).since(0) is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"members": None}, "the group's members have not been asked yet"),
        ({"members": None, "membership_error": "broker-a: refused"}, "broker-a: refused"),
    ],
)
def test_of_members_that_are_not_known_nobody_says_that_they_rest(
    group: ConsumerGroup, fields: dict[str, Any], reason: str
) -> None:
    ConsumerGroup.objects.filter(pk=group.pk).update(**fields)
    assert of_group(Measure.UNSETTLED) == (None, reason)


def test_while_nothing_is_judged_nobody_says_that_members_rest(group: ConsumerGroup) -> None:
    """Though the group's own state was judged: rebalances are found at the end of a run."""
    PipelineRun.objects.update(until=NOW - timedelta(hours=1))
    value, reason = of_group(Measure.UNSETTLED)
    assert (value, bool(reason)) == (None, True)
