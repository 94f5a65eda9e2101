"""Offsets of real groups on real brokers are moved, read back and moved back, and real members consume accordingly."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from consumers.errands.wires import close_wires
from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.cadence import Cadence
from consumers.polling.members.turn import Budget
from consumers.polling.poll import ClusterPoller
from consumers.polling.settings import PollSettings
from dashboard.demo.cluster import RocketMQ
from tests.consumers.resetting.live_site import Place, Site, outcomes, targets
from tests.plugins.counting_consumers import CountingConsumers
from tests.plugins.java_admin import JavaAdmin

pytestmark = [
    pytest.mark.live,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
    pytest.mark.timeout(400),
]

BROKERS = ["broker-a", "broker-b"]
PLACES: list[Place] = [(broker, queue) for broker in BROKERS for queue in range(2)]
# Before a moment, and after it.
EARLIER, LATER = 30, 30
ALL = EARLIER + LATER


@pytest.fixture
def site(
    rocketmq_pair: RocketMQ, java_admin_pair: JavaAdmin, api: Client, api_user: User, tmp_path: Path, settings: Any
) -> Iterator[Site]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    # The members here commit every second, and offline groups not at all.
    settings.RESET_SETTLED_SECONDS, settings.RESET_READ_BACK_SECONDS = 2, 40
    api_user.user_permissions.add(Permission.objects.get(codename="reset_offsets"))
    row = Cluster.objects.create(name="resetting", namesrv=rocketmq_pair.namesrv, created_at=timezone.now())
    asked_always = PollSettings(Cadence(0, 0), Budget(1000, 1000), 5.0, Lake.at(settings.CONSUMERSCOPE_LAKE), 0)
    poller = ClusterPoller(row, asked_always)
    yield Site(api, poller, java_admin_pair, BROKERS)
    poller.close()
    close_wires()


def everywhere(offset: int) -> dict[Place, int]:
    return dict.fromkeys(PLACES, offset)


def fill(admin: JavaAdmin, topic: str, count: int) -> None:
    for broker, queue in PLACES:
        admin.send(topic, broker, queue, count)


def a_topic(admin: JavaAdmin, topic: str) -> str:
    """Two queues on each broker; between their earlier and their later messages lies the moment that is returned."""
    admin.create_topic(topic, 2)
    fill(admin, topic, EARLIER)
    time.sleep(0.2)
    moment = datetime.now(UTC)
    time.sleep(0.2)
    fill(admin, topic, LATER)
    return moment.isoformat()


def a_group(admin: JavaAdmin, group: str, topic: str, offset: int) -> str:
    admin.create_group(group)
    for broker, queue in PLACES:
        admin.set_offset(group, topic, broker, queue, offset)
    return group


def applied(site: Site, planned: dict[str, Any]) -> dict[str, Any]:
    assert planned["status_code"] == 201, planned
    reset = site.apply(planned)
    assert (reset["status"], reset["error"]) == ("applied", None), reset
    return reset


def test_every_kind_of_target_lands_where_its_plan_said(site: Site, java_admin_pair: JavaAdmin) -> None:
    topic = "ResetKinds"
    moment = a_topic(java_admin_pair, topic)
    group = a_group(java_admin_pair, "reset-kinds", topic, 20)
    other = a_group(java_admin_pair, "reset-kinds-other", topic, 7)
    stood = site.poll()
    given = [
        {"topic": topic, "broker": broker, "queue_id": queue, "offset": 11 + number}
        for number, (broker, queue) in enumerate(PLACES)
    ]
    kinds: list[tuple[str, Any, dict[Place, int]]] = [
        ("earliest", None, everywhere(0)),
        ("offset", 45, everywhere(45)),
        ("time", moment, everywhere(EARLIER)),
        ("shift", -25, everywhere(5)),
        ("skip_older", (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds(), everywhere(EARLIER)),
        ("latest", None, everywhere(ALL)),
        ("copy", other, everywhere(7)),
        ("moment", stood, everywhere(20)),
        ("offsets", given, {place: 11 + number for number, place in enumerate(PLACES)}),
    ]
    now = everywhere(20)
    for kind, value, expected in kinds:
        if kind == "skip_older":
            value = (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
        planned = site.plan(group, kind, value)
        assert targets(planned) == expected, (kind, planned)
        assert site.offsets(group, topic) == now, kind
        moves = [expected[place] - now[place] for place in PLACES]
        assert sum(row["skipped_messages"] for row in planned["queues"]) == sum(max(move, 0) for move in moves)
        assert sum(row["replayed_messages"] for row in planned["queues"]) == sum(max(-move, 0) for move in moves)

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
def second_tells_members(rocketmq_pair: RocketMQ) -> Iterator[None]:
    """`broker-b` moves no offsets itself, as brokers before 5.2 do unless told otherwise."""
    address = rocketmq_pair.brokers["broker-b"].address

    def let(itself: str) -> None:
        name = "useServerSideResetOffset"
        rocketmq_pair.mqadmin("updateBrokerConfig", "-b", address, "-k", name, "-v", itself)

    let("false")
    yield
    let("true")


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


def wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def member(group: str, topic: str, least: float, most: float, **more: Any) -> dict[str, Any]:
    instance = {"group": group, "topic": topic, "instance": f"{group}-1", "commit_milliseconds": 1000, **more}
    return {"seconds": (least, most), **instance}


def test_members_consume_again_what_the_plan_promised(
    site: Site, java_admin_pair: JavaAdmin, rocketmq_pair: RocketMQ, rocketmq_jars: Path, tmp_path: Path
) -> None:
    moments = {kind: a_topic(java_admin_pair, f"Reset{kind}") for kind in ("Concurrent", "Orderly", "Broadcast")}
    members = [
        member("reset-concurrent", "ResetConcurrent", 0, 0),
        member("reset-orderly", "ResetOrderly", 0, 0, orderly=True),
        member("reset-broadcast", "ResetBroadcast", 0, 0, broadcasting=True),
    ]
    for one in members:
        java_admin_pair.create_group(one["group"])
    with CountingConsumers(rocketmq_pair.namesrv, rocketmq_jars, tmp_path / "members", members) as consumers:

        def consumed(topic: str) -> int:
            return sum(count for place, count in consumers.consumed().items() if place[0] == topic)

        for group, topic in (("reset-concurrent", "ResetConcurrent"), ("reset-orderly", "ResetOrderly")):
            wait_until(lambda group=group, topic=topic: site.offsets(group, topic) == everywhere(ALL))
        site.poll()

        refused = site.plan("reset-broadcast", "earliest")
        assert refused["status_code"] == 409
        assert "broadcast" in refused["detail"].lower()

        promised = {"ResetConcurrent": 4 * ALL, "ResetOrderly": 4 * ALL}
        for group, topic, kind, value in (
            ("reset-concurrent", "ResetConcurrent", "earliest", None),
            ("reset-orderly", "ResetOrderly", "time", moments["Orderly"]),
        ):
            planned = site.plan(group, kind, value)
            assert planned["status_code"] == 201, planned
            promised[topic] += sum(row["replayed_messages"] for row in planned["queues"])
            reset = applied(site, planned)
            assert reset["totals"]["replayed_in_fact"] == planned["totals"]["replayed_messages"]
            assert outcomes(reset) == {"CONFIRMED"}, reset
            wait_until(lambda group=group, topic=topic: site.offsets(group, topic) == everywhere(ALL))
            assert consumed(topic) == promised[topic], (group, kind)


def test_a_group_whose_progress_was_lost_returns_to_where_it_stood(
    site: Site, java_admin_pair: JavaAdmin, rocketmq_pair: RocketMQ
) -> None:
    topic = "ResetLost"
    a_topic(java_admin_pair, topic)
    group = a_group(java_admin_pair, "reset-lost", topic, 41)
    stood = site.poll()
    rocketmq_pair.kill_broker("broker-a")
    config = rocketmq_pair.brokers["broker-a"].store / "config"
    lost = [path for path in config.glob("consumerOffset.json*") if path.unlink() is None]
    assert lost
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
