"""Real consumers that fail on purpose: what is told of their retries equals what they did, and why they are stuck."""

import json
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.delay_answers import DelayLimits
from consumers.polling.heads import HeadLimits
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.rocketmq.message_calls import call
from consumers.rocketmq.wire.codes import RequestCode
from dashboard.demo.cluster import RocketMQ
from tests.consumers.failing.watched import Watched
from tests.plugins.failing import ALWAYS, FailingProcess
from tests.plugins.java_admin import JavaAdmin

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
]

# RocketMQ 5.4.0, RequestCode. Nothing but tests may send it.
UPDATE_BROKER_CONFIG = 25
# The first two retries come after one and two seconds, the third after an hour: what comes to it waits there.
LADDER = "1s 1s 1s 2s" + 14 * " 1h"
THIRD_RETRY = 5
BROKER = "broker-a"
# Every tenth message fails once; two in fifty fail at every attempt.
FAILS = [(10, 0, 1), (25, 7, ALWAYS)]
RETRIES = 16
SHARES, DEAD, ORDER, DISCARDS, CLOSED = (
    f"failing-{name}" for name in ("shares", "dead", "order", "discards", "closed")
)


@pytest.fixture
def cluster(rocketmq_jars: Path, tmp_path: Path) -> Iterator[RocketMQ]:
    with RocketMQ(tmp_path / "rocketmq", rocketmq_jars, config={"messageDelayLevel": LADDER}) as cluster:
        yield cluster


@pytest.fixture
def admin(cluster: RocketMQ, rocketmq_jars: Path) -> Iterator[JavaAdmin]:
    with JavaAdmin(cluster, rocketmq_jars) as admin:
        yield admin


@pytest.fixture
def failing(cluster: RocketMQ, rocketmq_jars: Path) -> Iterator[FailingProcess]:
    with FailingProcess(cluster, rocketmq_jars, "failing") as process:
        yield process


@pytest.fixture
def poller(cluster: RocketMQ, tmp_path: Path, settings) -> Iterator[ClusterPoller]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    row = Cluster.objects.create(name="failing", namesrv=cluster.namesrv, created_at=timezone.now())
    settings.CONSUMERSCOPE_BLOCKED_AFTER_SECONDS = 10
    asked_always = PollSettings(
        Cadence(0, 0),
        Budget(1000, 1000),
        5.0,
        Lake.at(settings.CONSUMERSCOPE_LAKE),
        0,
        store_config_seconds=0,
        delays=DelayLimits(sample_seconds=0),
        heads=HeadLimits(seconds=5),
    )
    poller = ClusterPoller(row, asked_always)
    yield poller
    poller.close()


def tell(cluster: RocketMQ, poller: ClusterPoller, code: int, body: str) -> None:
    poller.wire.run(call(poller.wire.pool, cluster.brokers[BROKER].address, code, body=body.encode()))


def prepare(cluster: RocketMQ, admin: JavaAdmin, poller: ClusterPoller) -> None:
    for topic, queues, each in (("Failing", 4, 50), ("FailingOrder", 1, 20), ("FailingOther", 1, 20)):
        admin.create_topic(topic, queues)
        for queue in range(queues):
            admin.send(topic, BROKER, queue, each)
    for group in (SHARES, DEAD):
        admin.create_group(group)
        for queue in range(4):
            # What a group consumed up to its first commit is not known: from here on it is.
            admin.set_offset(group, "Failing", BROKER, queue, 0)
    discards = {"groupName": DISCARDS, "consumeEnable": True, "retryQueueNums": 0}
    tell(cluster, poller, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, json.dumps(discards))


def moved(told: dict[str, Any]) -> dict[str, int | None]:
    return {name: told["totals"][name] for name in ("into_retry", "out_of_retry", "into_dlq")}


def not_holding(told: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["severity"] for one in told["conditions"] if one["ok"] is False}


def compare_with_truth(watched: Watched, failing: FailingProcess, until: datetime) -> None:
    shares, dead = failing.truth(SHARES), failing.truth(DEAD)
    told = watched.retries(SHARES, until)
    assert moved(told) == {"into_retry": shares.redelivered, "out_of_retry": shares.redelivered, "into_dlq": 0}, told[
        "windows"
    ]
    assert told["totals"]["consumed"] == shares.first == 200
    rungs = {rung["level"]: rung for rung in told["ladder"]}
    assert shares.waiting(RETRIES) == {3: 8}
    assert rungs[THIRD_RETRY]["sampled"]["messages"] == 8
    assert rungs[THIRD_RETRY]["sampled"]["attempts"] == {"3": 8}
    assert rungs[THIRD_RETRY]["broker_backlog"] == 8
    assert [rung["broker_backlog"] for level, rung in rungs.items() if level != THIRD_RETRY] == [0] * 17
    told = watched.retries(DEAD, until)
    assert moved(told) == {"into_retry": dead.redelivered, "out_of_retry": dead.redelivered, "into_dlq": 8}, told[
        "windows"
    ]
    assert dead.dead(2) == 8


def compare_reasons(watched: Watched, until: datetime) -> None:
    (poison,) = watched.retries(ORDER, until)["blocked"]
    assert (poison["kind"], poison["topic"], poison["queue_id"], poison["offset"]) == (
        "orderly suspend",
        "FailingOrder",
        0,
        3,
    )
    (refused,) = watched.retries(CLOSED, until)["blocked"]
    assert (refused["kind"], refused["offset"]) == ("local retry", 2)
    assert not_holding(watched.retries(DISCARDS, until))["retries are kept"] == "critical"
    assert not_holding(watched.retries(CLOSED, until))["some broker takes retries"] == "critical"
    # What fails on the spot needs no broker to take it.
    assert set(not_holding(watched.retries(ORDER, until)).values()) <= {"warning", "info"}


def test_what_is_told_of_failing_consumers_is_what_they_did(
    cluster: RocketMQ,
    admin: JavaAdmin,
    failing: FailingProcess,
    poller: ClusterPoller,
    spark,
    api: Client,
    settings,
) -> None:
    prepare(cluster, admin, poller)
    watched = Watched(poller, spark, api, settings.JUDGE)
    failing.start(SHARES, "Failing", FAILS, threads=4)
    failing.start(DEAD, "Failing", FAILS, threads=4, max_reconsume_times=2)
    failing.start(ORDER, "FailingOrder", [(20, 3, ALWAYS)], orderly=True)
    failing.start(DISCARDS, "FailingOther", [(5, 0, ALWAYS)])

    def have_failed() -> bool:
        shares, dead = failing.truth(SHARES), failing.truth(DEAD)
        return shares.failed.get(2, 0) == 8 and dead.failed.get(2, 0) == 8 and shares.redelivered == 36

    watched.poll_until(have_failed, 600)
    # Members commit every five seconds.
    committed = time.monotonic() + 7
    watched.poll_until(lambda: time.monotonic() > committed, 30)
    until = watched.aggregate()

    compare_with_truth(watched, failing, until)

    # From here on a run of the pipeline is what the clock of a site would have made every half a minute.
    runs = watched.runs
    tell(cluster, poller, UPDATE_BROKER_CONFIG, "brokerPermission=4")
    failing.start(CLOSED, "FailingOther", [(20, 2, ALWAYS)])
    stuck = time.monotonic() + 20
    watched.poll_until(lambda: time.monotonic() > stuck, 40)
    until = watched.aggregate()
    assert watched.runs - runs <= 2
    compare_reasons(watched, until)
