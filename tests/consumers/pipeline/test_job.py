"""A whole run over a small lake and its rows."""

from datetime import timedelta

import pytest

from consumers.lake.reader import files, read
from consumers.lake.store import Lake
from consumers.models import DueWindow, GroupState, GroupWindow, QueueState, StateChange
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import run
from consumers.polling.record.recorder import HISTORY_ERROR
from consumers.vocabulary.states import UnknownReason
from tests.pipeline_rows import at, put, rows
from tests.world import a_broker, a_cluster, a_group, a_judged_queue, a_queue, a_reading, a_snapshot

pytestmark = pytest.mark.django_db

STILL = [(100, 1000)] * 40
KEEPING_UP = [(1000 + 15 * n, 1000 + 15 * n) for n in range(40)]


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


@pytest.fixture
def world(lake):
    cluster = a_cluster(read_at=None)
    for group in ("billing", "shipping"):
        a_group(cluster, group)
    for queue_id in (0, 1):
        a_queue(cluster, "Orders", queue_id)
    put(lake, "readings", rows(STILL) + rows(KEEPING_UP, queue_id=1) + rows(KEEPING_UP, queue_id=1, group="shipping"))
    for n in range(40):
        a_reading(cluster, at(15 * n), brokers=[{"name": "broker-a", "read": True, "error": None}])
    return cluster


def test_it_judges_queues_and_groups(without_spark, lake, world):
    report = run(without_spark, lake, ["prod"], at(0), at(600), Durations())

    assert (report.queues_judged, report.groups_judged, report.unknown_rows) == (3, 2, 0)
    assert {row.group.name: (row.state, row.rule) for row in GroupState.objects.all()} == {
        "billing": ("STALL", "owner_unknown"),
        "shipping": ("OK", "caught_up"),
    }


def test_it_writes_what_the_page_says_in_a_sentence(without_spark, lake, world):
    run(without_spark, lake, ["prod"], at(0), at(600), Durations())

    row = GroupState.objects.get(group__name="billing")
    assert row.detail == {
        "still_seconds": 315.0,
        "lag_messages": 900,
        "owner": "not_sampled",
        "topic": "Orders",
        "broker": "broker-a",
        "queue_id": 0,
        "queues": 2,
    }
    assert row.worst_queue.queue_id == 0
    assert row.completeness == 1.0


def test_the_same_range_twice_gives_the_same_rows_and_files(without_spark, lake, world):
    def everything():
        tables = ("windows_60", "windows_600", "knots")
        return (
            list(GroupWindow.objects.order_by("group", "step_seconds", "start").values_list()[:]),
            {table: files(lake, table, "prod", at(0), at(600)) for table in tables},
            {table: read(lake, table, "prod", at(-60), at(600)).sort_by("queue_id").to_pylist() for table in tables},
            list(StateChange.objects.values_list("group", "at", "before", "after")),
        )

    def without_ids(found):
        return ([row[1:] for row in found[0]], *found[1:])

    run(without_spark, lake, ["prod"], at(0), at(600), Durations())
    first = without_ids(everything())
    run(without_spark, lake, ["prod"], at(0), at(600), Durations())
    assert without_ids(everything()) == first
    assert len(first[0]) == 2 * (10 + 1 + 1)


def test_a_window_of_ten_minutes_makes_its_hour_and_day_due(without_spark, lake, world):
    run(without_spark, lake, ["prod"], at(0), at(300), Durations())
    assert not DueWindow.objects.exists()
    run(without_spark, lake, ["prod"], at(300), at(600), Durations())
    due = DueWindow.objects.order_by("step_seconds").values_list("cluster__name", "step_seconds", "start")
    assert list(due) == [("prod", 3600, at(0)), ("prod", 86400, at(-7200))]


def test_it_does_not_overwrite_a_later_judgement(without_spark, lake, world):
    run(without_spark, lake, ["prod"], at(300), at(600), Durations())
    run(without_spark, lake, ["prod"], at(0), at(300), Durations())
    assert set(GroupState.objects.values_list("judged_at", flat=True)) == {at(600)}
    assert set(QueueState.objects.values_list("judged_at", flat=True)) == {at(600)}


def test_a_silent_broker_makes_its_queues_unknown(without_spark, lake, world):
    group = world.groups.get(name="shipping")
    a_snapshot(group, a_queue(world, "Orders", 7, broker="broker-b"), 1, 1)

    run(without_spark, lake, ["prod"], at(300), at(600), Durations())

    row = GroupState.objects.get(group=group)
    assert (row.state, row.rule, row.completeness) == ("UNKNOWN", "not_read", 0.5)
    window = GroupWindow.objects.get(group=group, step_seconds=60, start=at(540))
    assert (window.lag_messages, window.unknown_reason) == (None, "broker_unread")


def test_a_retired_topic_is_neither_judged_nor_summed(without_spark, lake, world):
    group = world.groups.get(name="billing")
    group.unsubscribed = {"Old": at(-60).isoformat()}
    group.save()
    queue = a_queue(world, "Old")
    a_judged_queue(group, queue, "STALL", judged_at=at(0))
    put(lake, "readings", rows([(0, 5000)] * 40, topic="Old"), prefix="old-")

    run(without_spark, lake, ["prod"], at(0), at(600), Durations())

    assert not QueueState.objects.filter(queue=queue).exists()
    assert GroupState.objects.get(group=group).worst_queue.topic.name == "Orders"
    assert GroupWindow.objects.get(group=group, step_seconds=60, start=at(540)).lag_messages == 900


def test_a_broadcasting_group_whose_members_left_is_unknown(without_spark, lake, world):
    group = a_group(world, "notices", message_model="BROADCASTING")
    a_snapshot(group, a_queue(world), 1, 9, unknown_reason=UnknownReason.NOT_REPORTED, changed_at=at(-600))

    run(without_spark, lake, ["prod"], at(300), at(600), Durations())

    row = GroupState.objects.get(group=group)
    assert (row.state, row.rule) == ("UNKNOWN", UnknownReason.NOT_REPORTED)


def test_a_state_keeps_its_beginning_while_it_stays(without_spark, lake, world):
    run(without_spark, lake, ["prod"], at(240), at(510), Durations())
    began = GroupState.objects.get(group__name="billing").since
    run(without_spark, lake, ["prod"], at(510), at(600), Durations())
    row = GroupState.objects.get(group__name="billing")
    assert (row.since, row.judged_at) == (began, at(600))
    assert began < at(600) - timedelta(seconds=180)


def test_a_state_does_not_go_where_the_history_of_readings_was_not_written(without_spark, lake, world):
    run(without_spark, lake, ["prod"], at(0), at(600), Durations())
    a_snapshot(world.groups.get(name="billing"), world.topics.get(name="Orders").queues.get(queue_id=0), 100, 1000)
    for n in range(40, 100):
        brokers = [{"name": "broker-a", "read": True, "error": None}]
        a_reading(world, at(15 * n), brokers=brokers, members={HISTORY_ERROR: "the lake's disk is too full"})

    run(without_spark, lake, ["prod"], at(1470), at(1500), Durations())

    row = GroupState.objects.get(group__name="billing")
    assert (row.state, row.rule, row.judged_at) == ("UNKNOWN", "not_read", at(1500))


def test_a_broker_that_was_never_read_may_have_queues_of_every_group(without_spark, lake, world):
    a_broker(world, "broker-a")
    a_broker(world, "broker-c", last_read_at=None)
    run(without_spark, lake, ["prod"], at(300), at(600), Durations())
    found = GroupWindow.objects.filter(start=at(540)).values_list("lag_messages", "unknown_reason").distinct()
    assert list(found) == [(None, "broker_unread")]
