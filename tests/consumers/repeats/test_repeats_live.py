"""Real consumers that write down what they consume: a crash and a reset each are one event whose bounds hold the truth.

Nothing else is an event: what members consumed once is no repeat.
"""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from consumers.models import Assignment, RepeatEvent
from dashboard.demo.cluster import RocketMQ
from tests.consumers.repeats.conftest import POLL_SECONDS
from tests.consumers.resetting.live_site import Site
from tests.plugins.counting_consumers import CountingConsumers
from tests.plugins.java_admin import JavaAdmin

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
]

QUEUES, MESSAGES = 4, 1200
# A client commits 10 s after its start for the first time, then every 5 s.
FIRST_COMMIT_SECONDS = 12.0
EACH_MESSAGE = (0.01, 0.03)


def member(group: str, topic: str, number: int, seconds: tuple[float, float] = EACH_MESSAGE) -> dict[str, Any]:
    named = {"group": group, "topic": topic, "instance": f"{group}-{number}"}
    return {**named, "threads": 4, "hold_messages": 300, "seconds": seconds}


def sent_at_once(send: Callable[[], object], *members: CountingConsumers) -> None:
    """On a busy machine sending takes as long as consuming: members wait for the last message, or none are left."""
    for one in members:
        one.freeze()
    send()
    for one in members:
        one.thaw()


def polled_until(site: Site, true: Callable[[], bool], why: str, seconds: float = 480) -> str:
    """The time of the last reading."""
    deadline = time.monotonic() + seconds
    while True:
        at = site.poll()
        if true():
            return at
        assert time.monotonic() < deadline, why
        time.sleep(POLL_SECONDS)


def settled_between_two(site: Site, group: str, queues: int) -> str:
    """The time of a reading by which the two members have shared the queues, each its own half, for long enough that
    the rebalance is over, and have committed. Polled all the while: what nobody read may have been a queue with two
    owners."""

    def is_shared() -> bool:
        held = Assignment.objects.filter(group__name=group, gone_by=None).exclude(queue__topic__kind="retry")
        return sorted(Counter(held.values_list("client_id", flat=True)).values()) == [queues // 2] * 2

    polled_until(site, is_shared, "the members do not share the queues")
    until = time.monotonic() + FIRST_COMMIT_SECONDS
    settled = polled_until(site, lambda: time.monotonic() > until, "time stands still")
    assert is_shared(), "the members shared the queues anew"
    return settled


def redelivered(*notes: Counter[Any]) -> int:
    """Deliveries of messages beyond their first."""
    return sum((sum(notes, Counter()) - Counter(set().union(*notes))).values())


def told(group: str) -> list[tuple[str, str, int | None, int | None]]:
    rows = RepeatEvent.objects.filter(group__name=group).order_by("started_at")
    return list(rows.values_list("cause", "confidence", "redelivered_low", "redelivered_high"))


def test_a_killed_member_is_one_event_whose_bounds_hold_what_came_again(
    site: Site,
    evaluated: Callable[[str, str], None],
    java_admin_pair: JavaAdmin,
    rocketmq_pair: RocketMQ,
    rocketmq_jars: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    group, topic = "repeats-killed", "RepeatsKilled"
    java_admin_pair.create_topic(topic, QUEUES, broker="broker-a")
    java_admin_pair.create_group(group)
    start = [rocketmq_pair.namesrv, rocketmq_jars]
    with (
        CountingConsumers(*start, tmp_path / "killed", [member(group, topic, 1)]) as killed,
        CountingConsumers(*start, tmp_path / "staying", [member(group, topic, 2)]) as staying,
    ):
        first = settled_between_two(site, group, QUEUES)
        sent_at_once(
            lambda: [java_admin_pair.send(topic, "broker-a", queue_id, MESSAGES) for queue_id in range(QUEUES)],
            killed,
            staying,
        )
        third = QUEUES * MESSAGES // 3
        polled_until(site, lambda: len(killed.consumed()) + len(staying.consumed()) > third, "little was consumed")
        killed.kill()
        polled_until(
            site,
            lambda: len(killed.consumed().keys() | staying.consumed().keys()) == QUEUES * MESSAGES,
            "not everything was consumed",
        )
        last = site.poll()
        true = redelivered(killed.consumed(), staying.consumed())

    evaluated(first, last)
    events = told(group)
    assert len(events) == 1, events
    [(cause, confidence, low, high)] = events
    with capsys.disabled():
        print(f"\nkilled: {low} <= {true} <= {high}, {cause}, {confidence}")
    assert cause == "consumer_crash"
    assert low is not None
    assert high is not None
    assert low <= true <= high
    assert true > 0


def test_a_reset_is_one_event_with_its_number(
    site: Site,
    evaluated: Callable[[str, str], None],
    java_admin_pair: JavaAdmin,
    rocketmq_pair: RocketMQ,
    rocketmq_jars: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    group, topic = "repeats-reset", "RepeatsReset"
    java_admin_pair.create_topic(topic, QUEUES, broker="broker-a")
    java_admin_pair.create_group(group)
    for queue_id in range(QUEUES):
        java_admin_pair.send(topic, "broker-a", queue_id, MESSAGES // 4)
    end = {("broker-a", queue_id): MESSAGES // 4 for queue_id in range(QUEUES)}
    with CountingConsumers(
        rocketmq_pair.namesrv, rocketmq_jars, tmp_path / "members", [member(group, topic, 1)]
    ) as running:
        first = polled_until(site, lambda: site.offsets(group, topic) == end, "not everything was committed")
        planned = site.plan(group, "offset", 100)
        assert planned["status_code"] == 201, planned
        reset = site.apply(planned)
        assert reset["status"] == "applied", reset
        again = QUEUES * (MESSAGES // 4 - 100)
        last = polled_until(site, lambda: redelivered(running.consumed()) >= again, "it was not consumed again")
        polled_until(site, lambda: site.offsets(group, topic) == end, "it was not committed again")
        last = site.poll()
        true = redelivered(running.consumed())

    evaluated(first, last)
    with capsys.disabled():
        print(f"\nreset: {true} redelivered, told: {told(group)}")
    events = told(group)
    assert len(events) == 1, events
    [(cause, confidence, low, high)] = events
    assert (cause, confidence) == ("reset", "proven")
    assert low is not None
    assert high is not None
    assert low <= true <= high
    assert str(reset["id"]) in str(RepeatEvent.objects.get(group__name=group).evidence)
