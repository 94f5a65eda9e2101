"""Time lags beside the truth: the producer's own record of when it sent each message, on the clock of this host."""

import statistics
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from consumers.groups.detail import queue_list
from consumers.lake.store import Lake
from consumers.models import Cluster, GroupState, QueueSample, QueueState
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import run
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.polling.samples.reading import SampleBudget

pytestmark = [pytest.mark.live, pytest.mark.spark, pytest.mark.django_db(transaction=True)]

TOPIC, FAILING = "ExactOrders", "exact-failing"
MESSAGES, POLL_EVERY = 40, 5
OFFSETS = (1, 7, 13, 20, 28, 35, 39)
DURATIONS = Durations(poll_seconds=2)
NO_SAMPLES, ALL_SAMPLES = SampleBudget(0, 0, 0), SampleBudget(100, 0, 0)


@pytest.fixture
def poller(rocketmq, tmp_path):
    cluster = Cluster.objects.create(name="exact", namesrv=rocketmq.namesrv, created_at=timezone.now())
    settings = PollSettings(
        cadence=Cadence(0, 0),
        budget=Budget(0, 0),
        deadline_seconds=5.0,
        lake=Lake.at(str(tmp_path / "lake")),
        disk_floor_mib=0,
        samples=NO_SAMPLES,
    )
    poller = ClusterPoller(cluster, settings)
    yield poller
    poller.close()


def polled(poller, samples):
    poller.settings = PollSettings(**vars(poller.settings) | {"samples": samples})
    now = datetime.now(UTC)
    poller.poll(now)
    return now


def judge(spark, poller, since, now):
    run(spark, poller.settings.lake, ["exact"], since, now + timedelta(milliseconds=1), DURATIONS)


def produce(java_admin, poller):
    """Sends message after message, polling now and then. Each was stored between the two moments of its offset."""
    sent = []
    for number in range(MESSAGES):
        before = datetime.now(UTC)
        java_admin.send(TOPIC, "broker-a", 0)
        sent.append((before, datetime.now(UTC)))
        if number % POLL_EVERY == 0:
            polled(poller, NO_SAMPLES)
        time.sleep(0.2 + 0.1 * (number % 4))
    return sent


def judged(offset):
    return QueueState.objects.get(group__name=f"exact-{offset}", queue__topic__name=TOPIC)


def errors(sent, now, kind):
    """By offset: seconds between judged and true time lag, and the bound that is published with it."""
    found = {}
    for offset in OFFSETS:
        state = judged(offset)
        assert state.time_lag_kind == kind
        longest, shortest = ((now - moment).total_seconds() for moment in sent[offset])
        wrong = max(shortest - state.time_lag_seconds, state.time_lag_seconds - longest, 0.0)
        found[offset] = (longest, state.time_lag_seconds, wrong, state.time_lag_error_seconds)
    return found


def table(name, found):
    lines = [f"\n{name:<14}{'true s':>10}{'shown s':>10}{'wrong by s':>12}{'bound s':>10}"]
    lines += [
        f"offset {offset:<7}{true:>10.3f}{shown:>10.3f}{wrong:>12.3f}{bound:>10.1f}"
        for offset, (true, shown, wrong, bound) in found.items()
    ]
    wrongs = [wrong for _, _, wrong, _ in found.values()]
    return "\n".join([*lines, f"max {max(wrongs):.3f} s, median {statistics.median(wrongs):.3f} s"])


def test_no_time_lag_is_further_from_the_truth_than_it_says(spark, poller, java_admin, capsys):
    java_admin.create_topic(TOPIC, 1)
    for offset in OFFSETS:
        java_admin.create_group(f"exact-{offset}")
        java_admin.set_offset(f"exact-{offset}", TOPIC, "broker-a", 0, offset)
    since = datetime.now(UTC)
    sent = produce(java_admin, poller)

    looked_up_at = polled(poller, NO_SAMPLES)
    judge(spark, poller, since, looked_up_at)
    looked_up = errors(sent, looked_up_at, "interpolated")
    asked_at = polled(poller, ALL_SAMPLES)
    judge(spark, poller, since, asked_at)
    asked = errors(sent, asked_at, "exact")

    with capsys.disabled():
        print(table("interpolated", looked_up), table("exact", asked), sep="\n")
    assert all(wrong <= bound for _, _, wrong, bound in [*looked_up.values(), *asked.values()])
    assert max(wrong for _, _, wrong, _ in asked.values()) < 0.05
    [row] = queue_list("exact", f"exact-{OFFSETS[0]}", now=asked_at)
    assert (row.time_lag_kind, row.time_lag_seconds) == ("exact", pytest.approx(asked[OFFSETS[0]][1], abs=0.001))


def test_an_answer_is_asked_for_once_while_the_offset_stands(poller, java_admin):
    java_admin.create_topic("ExactStill", 1)
    java_admin.create_group("exact-still")
    java_admin.send("ExactStill", "broker-a", 0, 5)
    java_admin.set_offset("exact-still", "ExactStill", "broker-a", 0, 2)
    polled(poller, ALL_SAMPLES)
    calls = poller.wire.pool.calls
    poller.poll(datetime.now(UTC))
    again = poller.samples.first["exact-still", "ExactStill", "broker-a", 0]
    assert poller.cluster.readings.first().members["samples"]["first_stored"] == 0
    assert poller.wire.pool.calls > calls
    java_admin.set_offset("exact-still", "ExactStill", "broker-a", 0, 3)
    poller.poll(datetime.now(UTC))
    sample = QueueSample.objects.get(group__name="exact-still")
    assert (again.offset, sample.offset) == (2, 3)
    assert sample.first_stored_at >= again.stored_at


def test_a_group_that_waits_only_for_retries_knows_how_long(spark, poller, java_admin):
    java_admin.create_topic("ExactFailing", 1)
    java_admin.send("ExactFailing", "broker-a", 0, 3)
    since = datetime.now(UTC)
    java_admin.start_consumer(FAILING, "ExactFailing", "exact-failing-1", consume="none")
    try:
        wait_until(poller, lambda: end_of(poller, "ExactFailing") == (3, 3))
    finally:
        java_admin.stop_consumer("exact-failing-1")
    java_admin.set_offset(FAILING, f"%RETRY%{FAILING}", "broker-a", 0, 0)
    wait_until(poller, lambda: end_of(poller, f"%RETRY%{FAILING}") == (0, 3))
    time.sleep(2)
    now = polled(poller, ALL_SAMPLES)
    judge(spark, poller, since, now)
    state = GroupState.objects.get(group__name=FAILING)
    # Level 3 holds a message back for 10 s; only then does it begin to wait.
    assert state.time_lag_kind == "exact"
    assert 2 <= state.time_lag_seconds <= (now - since).total_seconds() - 10


def end_of(poller, topic):
    rows = poller.cluster.groups.get(name=FAILING).snapshots.filter(queue__topic__name=topic)
    return rows.values_list("consumer_offset", "broker_offset").first()


def wait_until(poller, seen, seconds=360):
    deadline = time.monotonic() + seconds
    while True:
        polled(poller, NO_SAMPLES)
        if poller.cluster.groups.filter(name=FAILING).exists() and seen():
            return
        assert time.monotonic() < deadline
        time.sleep(0.5)
