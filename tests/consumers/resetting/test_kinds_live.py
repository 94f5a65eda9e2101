"""Offsets of real groups without members are moved to every kind of target, read back, and moved back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from dashboard.demo.cluster import RocketMQ
from tests.consumers.resetting.live_site import (
    ALL,
    EARLIER,
    PLACES,
    Place,
    Site,
    a_group,
    a_topic,
    applied,
    everywhere,
    outcomes,
    targets,
    wait_until,
)
from tests.plugins.java_admin import JavaAdmin

pytestmark = [
    pytest.mark.live,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
]


def wishes(topic: str, other: str, moment: str, stood: str) -> Iterator[tuple[str, Any, dict[Place, int]]]:
    """Kind, value and where each queue goes. Of an age: the time that it goes back to."""
    own = {place: 11 + number for number, place in enumerate(PLACES)}
    yield "earliest", None, everywhere(0)
    yield "offset", 45, everywhere(45)
    yield "time", moment, everywhere(EARLIER)
    yield "shift", -25, everywhere(5)
    yield "skip_older", moment, everywhere(EARLIER)
    yield "latest", None, everywhere(ALL)
    yield "copy", other, everywhere(7)
    yield "moment", stood, everywhere(20)
    listed = [{"topic": topic, "broker": place[0], "queue_id": place[1], "offset": own[place]} for place in PLACES]
    yield "offsets", listed, own


def a_plan(site: Site, group: str, kind: str, value: Any) -> dict[str, Any]:
    """However long planning takes, an age is counted from the moment in which it was asked for."""
    if kind != "skip_older":
        return site.plan(group, kind, value)
    with time_machine.travel(datetime.now(UTC), tick=False):
        return site.plan(group, kind, (datetime.now(UTC) - datetime.fromisoformat(value)).total_seconds())


def compare_amounts(planned: dict[str, Any], now: dict[Place, int], expected: dict[Place, int]) -> None:
    moves = [expected[place] - now[place] for place in PLACES]
    assert sum(row["skipped_messages"] for row in planned["queues"]) == sum(max(move, 0) for move in moves)
    assert sum(row["replayed_messages"] for row in planned["queues"]) == sum(max(-move, 0) for move in moves)


def test_every_kind_of_target_lands_where_its_plan_said(site: Site, java_admin_pair: JavaAdmin) -> None:
    topic = "ResetKinds"
    moment = a_topic(java_admin_pair, topic)
    group = a_group(java_admin_pair, "reset-kinds", topic, 20)
    other = a_group(java_admin_pair, "reset-kinds-other", topic, 7)
    now = everywhere(20)
    for kind, value, expected in wishes(topic, other, moment, stood=site.poll()):
        planned = a_plan(site, group, kind, value)
        assert targets(planned) == expected, (kind, planned)
        assert site.offsets(group, topic) == now, kind
        compare_amounts(planned, now, expected)

        reset = applied(site, planned)
        assert outcomes(reset) == {"CONFIRMED"}, (kind, reset)
        assert site.offsets(group, topic) == expected, kind
        assert {(row["broker"], row["queue_id"]): row["before"] for row in reset["queues"]} == now
        now = expected

    restored = applied(site, site.restore(reset))
    assert outcomes(restored) == {"CONFIRMED"}
    assert site.offsets(group, topic) == everywhere(20)
    assert site.offsets(other, topic) == everywhere(7)


@pytest.fixture
def second_tells_members(site: Site, rocketmq_pair: RocketMQ) -> Iterator[None]:
    """`broker-b` moves no offsets itself, as brokers before 5.2 do unless told otherwise."""
    address = rocketmq_pair.brokers["broker-b"].address
    site.configure(address, "useServerSideResetOffset=false")
    yield
    site.configure(address, "useServerSideResetOffset=true")


@pytest.mark.usefixtures("second_tells_members")
def test_one_reset_takes_each_broker_by_its_own_way(site: Site, java_admin_pair: JavaAdmin) -> None:
    topic = "ResetBothWays"
    a_topic(java_admin_pair, topic)
    group = a_group(java_admin_pair, "reset-both-ways", topic, 20)
    site.poll()

    planned = site.plan(group, "offset", 33)
    ways = {row["broker"]: row["method"] for row in planned["queues"]}
    assert ways == {"broker-a": "server_side", "broker-b": "commit"}
    assert outcomes(applied(site, planned)) == {"CONFIRMED"}
    assert site.offsets(group, topic) == everywhere(33)


def test_a_group_whose_progress_was_lost_returns_to_where_it_stood(
    site: Site, java_admin_pair: JavaAdmin, rocketmq_pair: RocketMQ
) -> None:
    topic = "ResetLost"
    a_topic(java_admin_pair, topic)
    group = a_group(java_admin_pair, "reset-lost", topic, 41)
    stood = site.poll()
    config = rocketmq_pair.brokers["broker-a"].store / "config"
    # A broker that just started writes its offsets for the first time after ten seconds.
    wait_until(lambda: any(f"@{group}" in path.read_text() for path in config.glob("consumerOffset.json")), 360)
    rocketmq_pair.kill_broker("broker-a")
    for path in config.glob("consumerOffset.json*"):
        path.unlink()
    rocketmq_pair.start_broker("broker-a")
    site.poll()
    assert site.offsets(group, topic) == {("broker-b", 0): 41, ("broker-b", 1): 41}

    planned = site.plan(
        group,
        "moment",
        stood,
        queues=[{"topic": topic, "broker": broker, "queue_id": queue} for broker, queue in PLACES],
    )
    assert targets(planned) == everywhere(41), planned
    # Where nothing is committed there is nothing to come back to.
    assert {row["broker"]: row["restorable"] for row in planned["queues"]}["broker-a"] is False
    applied(site, planned)
    assert site.offsets(group, topic) == everywhere(41)
