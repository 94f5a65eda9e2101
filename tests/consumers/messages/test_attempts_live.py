"""Real consumers that write down every delivery: the attempts told of each message are the deliveries written down."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from consumers.jobs.hold import close_wires
from consumers.lake.store import Lake
from consumers.models import Assignment, Cluster
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.rocketmq.wire.codes import RequestCode
from dashboard.demo.cluster import RocketMQ
from tests.plugins.failing import ALWAYS, FailingProcess, WrittenDelivery
from tests.plugins.java_admin import JavaAdmin

pytestmark = [
    pytest.mark.live,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
]

GROUP, TOPIC, BROKER = "attempts-told", "AttemptsTold", "broker-a"
MEMBER = f"127.0.0.1@{GROUP}-1"
# The first retry comes after one second, the second after two.
LADDER = "1s 1s 1s 2s" + 14 * " 1h"
MESSAGES, RETRIES = 9, 2
# Of three messages one fails always, one fails once, and one never.
FAILS = [(3, 0, ALWAYS), (3, 1, 1)]
POLL_SECONDS = 1.0
# Handlers note the time as they are called, brokers as they store: in one machine, and rounded to milliseconds.
ROUNDED = timedelta(milliseconds=5)
CODES = (
    RequestCode.GET_ALL_TOPIC_CONFIG,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    RequestCode.GET_ALL_CONSUMER_OFFSET,
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
def poller(cluster: RocketMQ, tmp_path: Path, settings: Any) -> Iterator[ClusterPoller]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    row = Cluster.objects.create(name="attempts", namesrv=cluster.namesrv, created_at=timezone.now())
    asked_always = PollSettings(Cadence(0, 0), Budget(1000, 1000), 5.0, Lake.at(settings.CONSUMERSCOPE_LAKE), 0)
    poller = ClusterPoller(row, asked_always)
    yield poller
    poller.close()
    close_wires()


def polled_until_owned(poller: ClusterPoller) -> None:
    """Of the topic's queue and of the retry topic's the owner is known."""
    deadline = time.monotonic() + 240
    while Assignment.objects.filter(group__name=GROUP, client_id=MEMBER, gone_by=None).count() < 2:
        assert time.monotonic() < deadline, "no reading saw the member hold its queues"
        poller.poll(timezone.now())
        time.sleep(POLL_SECONDS)


def polled_until_delivered(poller: ClusterPoller, failing: FailingProcess, wanted: int) -> list[WrittenDelivery]:
    deadline = time.monotonic() + 360
    while len(failing.deliveries(GROUP)) < wanted:
        assert time.monotonic() < deadline, failing.deliveries(GROUP)
        poller.poll(timezone.now())
        time.sleep(POLL_SECONDS)
    return failing.deliveries(GROUP)


def told(api: Client, message: str) -> dict[str, Any]:
    answer = api.get(f"/api/v1/groups/attempts/{GROUP}/messages/{quote(message, safe='')}/attempts/")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def polled_until_committed(poller: ClusterPoller, api: Client) -> None:
    """A client commits every 5 s, 10 s after its start for the first time."""
    deadline = time.monotonic() + 240
    while True:
        poller.poll(timezone.now())
        attempts = [one for number in range(MESSAGES) for one in told(api, f"key-{number}")["attempts"]]
        if all(one["progress"] == "consumed" for one in attempts if one["kind"] in ("original", "retry")):
            poller.poll(timezone.now())
            return
        assert time.monotonic() < deadline, attempts
        time.sleep(POLL_SECONDS)


def places(answer: dict[str, Any]) -> list[str]:
    return [one["stored_id"] for one in answer["attempts"]]


def written(deliveries: list[WrittenDelivery], key: str) -> list[WrittenDelivery]:
    return [one for one in deliveries if one.keys == key]


def is_within(delivery: dict[str, Any], one: WrittenDelivery) -> bool:
    after = parse_datetime(delivery["after"]) if delivery["after"] else None
    before = parse_datetime(delivery["before"]) if delivery["before"] else None
    is_after = after is None or after - ROUNDED <= one.at
    return is_after and (before is None or one.at <= before + ROUNDED)


def test_the_attempts_told_are_the_deliveries_written_down(
    api: Client,
    api_user: User,
    admin: JavaAdmin,
    failing: FailingProcess,
    poller: ClusterPoller,
    capsys: pytest.CaptureFixture[str],
) -> None:
    api_user.user_permissions.add(Permission.objects.get(codename="view_message_body"))
    admin.create_topic(TOPIC, 1)
    admin.create_group(GROUP)
    admin.set_offset(GROUP, TOPIC, BROKER, 0, 0)
    failing.start(GROUP, TOPIC, FAILS, max_reconsume_times=RETRIES)
    polled_until_owned(poller)
    admin.send(TOPIC, BROKER, 0, MESSAGES)
    # A third is delivered three times, a third twice, a third once.
    deliveries = polled_until_delivered(poller, failing, MESSAGES // 3 * 6)
    polled_until_committed(poller, api)
    before = [admin.ask(BROKER, code) for code in CODES]

    for number in range(MESSAGES):
        key = f"key-{number}"
        answer, truth = told(api, key), written(deliveries, key)
        [message] = answer["messages"]
        attempts = [one for one in answer["attempts"] if one["kind"] in ("original", "retry")]
        assert answer["complete"], answer["searched"]
        assert [one["reconsume_times"] for one in attempts] == [one.reconsume_times for one in truth]
        assert message["deliveries_low"] == len(message["deliveries"]) == len(truth), message["sentence"]
        pairs = zip(message["deliveries"], truth, strict=True)
        assert all(is_within(delivery, one) for delivery, one in pairs), (message["deliveries"], truth)
        assert {one["owner"] for one in [*attempts, *message["deliveries"]]} == {MEMBER}
        dead = [one for one in answer["attempts"] if one["kind"] == "dead_letter"]
        assert len(dead) == (1 if number % 3 == 0 else 0)
        by_id, by_place = told(api, message["message_id"]), told(api, attempts[-1]["stored_id"])
        assert [places(one) for one in (by_id, by_place)] == [places(answer)] * 2
        with capsys.disabled():
            print(f"\n{key}: {message['sentence']}")
    assert [admin.ask(BROKER, code) for code in CODES] == before, "a look-up left something behind"
