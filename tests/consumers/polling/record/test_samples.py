"""Samples in rows and in the lake, and what a new process remembers of them."""

from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest

from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup, QueueSample, QueueState, Reading, TagSample
from consumers.polling.record.delays import remembered_samples
from consumers.polling.record.recorder import Recorder
from consumers.polling.samples.planner import SamplePlanner, StartRules, longest_time_lags, start_rules
from consumers.polling.samples.reading import (
    ClockBounds,
    FirstStored,
    SampleBudget,
    SampleMemory,
    SamplesReading,
    StartAnswer,
    TagCount,
)
from tests.readings import T0, at, broker, reading, row
from tests.world import a_queue

pytestmark = pytest.mark.django_db

KEY, OTHER = ("billing", "Orders", "broker-a", 0), ("billing", "Orders", "broker-a", 1)
STORED_AT = datetime(2026, 3, 1, 1, 59, 0, 250000, tzinfo=UTC)
FIRST = FirstStored(4, STORED_AT, None, T0)
START = StartAnswer(0, "first offset", None, T0)
COUNT = TagCount("TagA", 64, 1, T0)


@pytest.fixture
def cluster():
    return Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path / "lake"))


def rows(consumer_offset=4):
    return [row("billing", "Orders", 0, consumer_offset, 9), row("billing", "Orders", 1, 7, 9)]


def record(cluster, lake, samples, seconds=0, consumer_offset=4):
    taken = reading(seconds, broker("broker-a", *rows(consumer_offset)))
    return Recorder.of(cluster).record(taken, None, lake, samples)


def stored(lake, tmp_path):
    """The store times of queues 0 and 1 in the newest file of readings."""
    newest = sorted(tmp_path.rglob("readings/**/*.parquet"))[-1]
    return pq.read_table(newest).sort_by("queue_id")["first_stored_at"].to_pylist()


def test_a_store_time_stands_in_every_reading_in_which_it_holds(cluster, lake, tmp_path):
    record(cluster, lake, SamplesReading(T0, first={KEY: FIRST}, holding={KEY: FIRST}))
    assert stored(lake, tmp_path) == [STORED_AT, None]
    record(cluster, lake, SamplesReading(at(15), holding={KEY: FIRST}), seconds=15)
    assert stored(lake, tmp_path) == [STORED_AT, None]


@pytest.mark.parametrize(
    "samples",
    [
        None,
        SamplesReading(T0),
        SamplesReading(T0, holding={("billing", "Orders", "broker-b", 0): FIRST}),
        SamplesReading(T0, holding={KEY: FirstStored(4, None, "expired", T0)}),
        SamplesReading(T0, holding={KEY: FirstStored(3, STORED_AT, None, T0)}),
    ],
)
def test_without_an_answer_about_the_offset_it_is_null(cluster, lake, tmp_path, samples):
    record(cluster, lake, samples)
    assert stored(lake, tmp_path) == [None, None]


def test_answers_become_rows(cluster, lake):
    record(cluster, lake, SamplesReading(T0, first={KEY: FIRST}, starts={OTHER: START}, holding={KEY: FIRST}))
    first, start = QueueSample.objects.order_by("queue__queue_id")
    assert (first.offset, first.first_stored_at, first.first_error, first.asked_at) == (4, STORED_AT, None, T0)
    assert (start.offset, start.start_offset, start.start_rule, start.start_error) == (None, 0, "first offset", None)


def test_a_later_answer_replaces_the_one_before(cluster, lake):
    record(cluster, lake, SamplesReading(T0, first={KEY: FIRST}))
    failed = FirstStored(5, None, "expired", at(15))
    record(cluster, lake, SamplesReading(at(15), first={KEY: failed}), seconds=15, consumer_offset=5)
    sample = QueueSample.objects.get()
    assert (sample.offset, sample.first_stored_at, sample.first_error) == (5, None, "expired")


def test_what_no_longer_holds_goes(cluster, lake):
    record(cluster, lake, SamplesReading(T0, first={KEY: FIRST, OTHER: FIRST}, tags={("billing", "Orders"): COUNT}))
    gone = SamplesReading(at(15), gone_queues=frozenset([KEY]), gone_topics=frozenset([("billing", "Orders")]))
    record(cluster, lake, gone, seconds=15)
    assert [sample.queue.queue_id for sample in QueueSample.objects.all()] == [1]
    assert not TagSample.objects.exists()


def test_what_was_never_stored_may_go_too(cluster, lake):
    nowhere = frozenset([("nobody", "Orders", "broker-a", 0), ("billing", "Nothing", "broker-a", 0)])
    record(cluster, lake, SamplesReading(T0, gone_queues=nowhere, gone_topics=frozenset([("nobody", "Orders")])))
    assert not QueueSample.objects.exists()


def test_a_process_that_starts_remembers_what_was_stored(cluster, lake):
    before = SamplesReading(
        T0, first={KEY: FIRST}, starts={OTHER: START}, tags={("billing", "Orders"): COUNT}, holding={KEY: FIRST}
    )
    record(cluster, lake, before)
    subscriptions = [{"topic": "Orders", "expression": "TagA", "expression_type": "TAG"}]
    ConsumerGroup.objects.update(subscriptions=subscriptions)
    memory = remembered_samples(cluster)
    assert (memory.first, memory.starts, memory.tags) == (before.first, before.starts, before.tags)
    assert memory.filters == {"billing": {"Orders": "TagA"}}


def test_the_cost_of_the_samples_stands_in_the_reading_s_row(cluster, lake):
    clocks = {"broker-a": ClockBounds(low=-0.5)}
    record(cluster, lake, SamplesReading(T0, first={KEY: FIRST}, calls=2, seconds=0.01234, clocks=clocks))
    cost = {"first_stored": 1, "starts": 0, "tags": 0, "calls": 2, "seconds": 0.0123}
    cost["clocks"] = {"broker-a": [-0.5, None]}
    assert Reading.objects.get().members["samples"] == cost


def judged(cluster, queue_id, seconds, kind):
    group = ConsumerGroup.objects.get_or_create(cluster=cluster, name="billing", kind="user", first_seen_at=T0)[0]
    QueueState.objects.create(
        group=group,
        queue=a_queue(cluster, "Orders", queue_id),
        state="OK",
        rule="lagging",
        since=T0,
        judged_at=T0,
        time_lag_seconds=seconds,
        time_lag_kind=kind,
    )


def test_lower_bounds_are_asked_first_and_then_the_longest(cluster):
    judgements = [(0, "exact"), (30, "interpolated"), (600, "interpolated"), (7, "at_least"), (None, "unknown")]
    for queue_id, (seconds, kind) in enumerate(judgements):
        judged(cluster, queue_id, seconds, kind)
    assert [key[3] for key in longest_time_lags(cluster)] == [3, 2, 1]


def test_the_longest_are_looked_up_every_half_minute(cluster):
    planner = SamplePlanner(cluster)
    assert planner._longest(T0) == []
    judged(cluster, 0, 30, "interpolated")
    assert [len(planner._longest(at(seconds))) for seconds in (29, 30)] == [0, 1]


@pytest.mark.parametrize(("calls", "queue_ids"), [(2, [1]), (0, [])])
def test_the_longest_judged_time_lag_is_planned_before_the_largest_lag(cluster, calls, queue_ids):
    judged(cluster, 1, 600, "interpolated")
    part = broker("broker-a", row("billing", "Orders", 0, 0, 99), row("billing", "Orders", 1, 4, 9))
    plan = SamplePlanner(cluster).plan(SampleMemory(), [part], SampleBudget(calls, 0, 0), T0)
    assert [one.key[3] for one in plan.first] == queue_ids


def test_the_rules_of_a_start_are_those_that_a_member_told_last(cluster):
    group = ConsumerGroup.objects.create(
        cluster=cluster, name="billing", kind="user", first_seen_at=T0, consume_from_where="CONSUME_FROM_LAST_OFFSET"
    )
    ConsumerGroup.objects.create(cluster=cluster, name="audit", kind="user", first_seen_at=T0)
    for seconds, timestamp in [(30, "20260301020000"), (10, "20260301010000")]:
        group.clients.create(
            client_id=f"one@{seconds}",
            address="10.0.0.1:5000",
            language="JAVA",
            seen_since=T0,
            last_seen=T0,
            running_info_at=at(seconds),
            started_at=at(seconds),
            settings={"consumeTimestamp": timestamp},
        )
    assert start_rules(cluster, {"billing", "audit"}) == {
        "billing": StartRules("CONSUME_FROM_LAST_OFFSET", "20260301020000", at(30)),
        "audit": StartRules(),
    }
