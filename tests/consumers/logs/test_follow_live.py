"""The log that real clients write, with the settings that RocketMQ ships, while it is written."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from consumers.logs.follow import FollowRules, follow_cluster
from consumers.models import Cluster, LogEvent, LogFile
from dashboard.demo.children import kill_child, start_child
from tests.plugins import calling
from tests.plugins.calling import PROJECT

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPIC, GROUP = "logs_orders", "logs_billing"
DEADLINE_SECONDS = 360


@pytest.fixture
def members(rocketmq, rocketmq_jars, java_admin, tmp_path) -> Iterator[Callable[[str], None]]:
    """Tells the child one thing to do, and returns when it is done."""
    java_admin.create_topic(TOPIC, 4)
    java_admin.create_group(GROUP)
    script = Path(calling.__file__).with_name("logging_child.py")
    command = [sys.executable, script, rocketmq.namesrv, TOPIC, GROUP, rocketmq_jars, tmp_path / "logs"]
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    child = start_child(command, log=tmp_path / "console.log", environ=environ, piped=True)
    assert child.stdin is not None
    assert child.stdout is not None

    def tell(what: str) -> None:
        if what:
            child.stdin.write(what.encode() + b"\n")
            child.stdin.flush()
        assert child.stdout.readline(), (tmp_path / "console.log").read_text()

    tell("")
    yield tell
    kill_child(child)


def events(code: str, **fields) -> list[LogEvent]:
    return list(LogEvent.objects.filter(code=code, group=GROUP, **fields))


def test_a_rebalance_and_a_send_back_are_found_in_a_real_clients_log(members, java_admin, tmp_path):
    began = timezone.now() - timedelta(seconds=1)
    cluster = Cluster.objects.create(
        name="logs", namesrv="127.0.0.1:9876", created_at=began, client_logs=f"{tmp_path}/logs/rocketmq_client.log"
    )

    def follow_until(found: Callable[[], object]) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not found():
            problems = list(LogFile.objects.values_list("path", "problem"))
            assert time.monotonic() < deadline, (problems, list(LogEvent.objects.values_list("code", "group", "topic")))
            time.sleep(1)
            follow_cluster(cluster, timezone.now(), FollowRules.of_site())

    members("first")
    java_admin.send(TOPIC, "broker-a", 1, 2)
    follow_until(lambda: events("consume_threw"))
    [threw] = events("consume_threw")
    assert (threw.topic, threw.queue_id, threw.params["reconsume_times"]) == (TOPIC, 1, 0)
    # It came back by the retry topic, and was consumed from there.
    follow_until(lambda: events("committed", topic=f"%RETRY%{GROUP}", params__offset__gte=1))

    members("second")
    follow_until(lambda: events("rebalanced", client_id="127.0.0.1@second"))
    follow_until(lambda: len(events("queue_added", topic=TOPIC)) >= 6)
    # Two of four queues went over: the first gave up what the second took.
    moved = [event.queue_id for event in events("queue_removed", topic=TOPIC)]
    taken = [event.queue_id for event in events("queue_added", topic=TOPIC)]
    assert (len(moved), sorted(taken)) == (2, sorted([*range(4), *moved]))

    members("leave")
    follow_until(lambda: events("client_unregistered"))

    file = LogFile.objects.exclude(identity="").get()
    assert (file.unknown_lines, file.form, file.zone_basis) == (0, "client_5", "form")
    assert file.zone_agrees_at is not None
    assert all(began <= event.began_at <= event.at <= timezone.now() for event in LogEvent.objects.all())
