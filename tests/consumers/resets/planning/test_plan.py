"""Whole plans against masters on real sockets."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from consumers.models import Reset, ResetKind, ResetQueue, ResetStatus
from consumers.rocketmq.wire.codes import RequestCode
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import RowReason
from consumers.words.reasons import stored_words
from tests.reset_cluster import APART_MS, FIRST_STORED_MS, FakeCluster
from tests.world import NOW

from .conftest import Planner

CHANGING = {RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, RequestCode.UPDATE_CONSUMER_OFFSET, RequestCode.HEART_BEAT}


def stored_at(offset: int) -> datetime:
    return datetime.fromtimestamp((FIRST_STORED_MS + offset * APART_MS) / 1000, UTC)


def rows(reset: Reset) -> list[ResetQueue]:
    return list(ResetQueue.objects.filter(reset=reset))


@pytest.mark.parametrize(
    ("kind", "value", "target", "replayed", "skipped"),
    [
        (ResetKind.EARLIEST, None, 10, 40, 0),
        (ResetKind.LATEST, None, 100, 0, 50),
        (ResetKind.OFFSET, 60, 60, 0, 10),
        (ResetKind.SHIFT, -30, 20, 30, 0),
        (ResetKind.TIME, stored_at(30).isoformat(), 30, 20, 0),
        (ResetKind.TIME, stored_at(5).isoformat(), 10, 40, 0),
        (ResetKind.SKIP_OLDER, (NOW - stored_at(80)).total_seconds(), 80, 0, 30),
    ],
)
def test_a_target_of_each_kind(
    plan: Planner, kind: ResetKind, value: Any, target: int, replayed: int, skipped: int
) -> None:
    reset = plan(kind, value)
    assert (reset.status, stored_words(reset.error)) == (ResetStatus.PLANNED, None)
    told = {(row.broker, row.queue_id, row.now_offset, row.min_offset, row.max_offset) for row in rows(reset)}
    assert told == {(broker, queue_id, 50, 10, 100) for broker in ("broker-a", "broker-b") for queue_id in range(2)}
    for row in rows(reset):
        assert (row.wanted, row.target, row.clipped) == (target, target, False)
        assert (row.replayed_messages, row.skipped_messages) == (replayed, skipped)
        assert (row.method, row.restorable, stored_words(row.left_out)) == ("server_side", True, None)


def test_it_says_when_the_message_at_each_target_was_stored(plan: Planner) -> None:
    assert [row.target_time for row in rows(plan(ResetKind.OFFSET, 60))] == [stored_at(60)] * 4


def test_where_nothing_is_stored_yet_the_time_is_unknown(plan: Planner) -> None:
    for row in rows(plan(ResetKind.LATEST)):
        assert (row.target_time, row.unknown) == (None, {"target_time": stored_reason(RowReason.AT_THE_END)})


def test_planning_changes_nothing_on_a_broker(plan: Planner, fake: FakeCluster) -> None:
    before = {name: dict(master.offsets) for name, master in fake.masters.items()}
    plan(ResetKind.TIME, stored_at(30).isoformat())
    assert {name: master.offsets for name, master in fake.masters.items()} == before
    assert not fake.asked() & CHANGING


def test_a_plan_says_what_it_saw_and_until_when_it_holds(plan: Planner, fake: FakeCluster, settings: Any) -> None:
    settings.RESET_PLAN_SECONDS = 300
    fake.masters["broker-b"].members["billing"] = ["10.0.0.7@1"]
    reset = plan(ResetKind.EARLIEST)
    assert (reset.planned_at, reset.expires_at) == (NOW, NOW + timedelta(seconds=300))
    assert reset.seen is not None
    assert (reset.seen["members"], reset.seen["message_model"]) == (["10.0.0.7@1"], "CLUSTERING")
    assert reset.seen["brokers"]["broker-a"] == {
        "version": "V5_4_0",
        "server_side": True,
        "permission": 6,
        "address": fake.masters["broker-a"].address,
    }


def test_a_queue_without_a_commit_has_a_target_and_cannot_be_restored(plan: Planner, fake: FakeCluster) -> None:
    del fake.masters["broker-a"].offsets["billing", "Orders", 1]
    row = rows(plan(ResetKind.OFFSET, 60))[1]
    assert (row.now_offset, row.target, row.restorable) == (None, 60, False)
    assert (row.replayed_messages, row.skipped_messages) == (None, None)
    assert set(row.unknown) == {"now_offset", "replayed_messages", "skipped_messages"}


def test_a_queue_that_stands_at_its_target_is_not_written(plan: Planner, fake: FakeCluster) -> None:
    fake.masters["broker-a"].offsets["billing", "Orders", 1] = 60
    methods = [row.method for row in rows(plan(ResetKind.OFFSET, 60))]
    assert methods == ["server_side", "nothing", "server_side", "server_side"]


def test_where_all_stand_at_their_targets_there_is_no_plan(plan: Planner) -> None:
    reset = plan(ResetKind.OFFSET, 50)
    assert (reset.status, stored_words(reset.error)) == (
        ResetStatus.REFUSED,
        "Every selected queue is at its target already: there is nothing to move.",
    )
    assert not rows(reset)


def test_a_silent_master_leaves_its_queues_out_by_name_of_the_reason(plan: Planner, fake: FakeCluster) -> None:
    # Whose members are not known is refused, so it answers that, and no more.
    fake.masters["broker-b"].refuses = {RequestCode.GET_MIN_OFFSET: 1}
    reset = plan(ResetKind.EARLIEST)
    there, left = rows(reset)[:2], rows(reset)[2:]
    assert [stored_words(row.left_out) for row in there] == [None, None]
    for row in left:
        assert stored_words(row.left_out) is not None
        assert "GET_MIN_OFFSET (31) was refused" in stored_words(row.left_out)
        assert (row.min_offset, row.max_offset, row.now_offset, row.target, row.method) == (None,) * 5
        assert {"min_offset", "max_offset", "now_offset", "target", "method"} <= set(row.unknown)


def test_a_group_whose_members_are_not_known_is_refused(plan: Planner, fake: FakeCluster) -> None:
    fake.masters["broker-b"].silent = True
    reset = plan(ResetKind.EARLIEST)
    assert reset.status == ResetStatus.REFUSED
    assert stored_words(reset.error) is not None
    assert "Its members are unknown" in stored_words(reset.error)


def test_a_silent_master_is_not_asked_for_each_of_its_queues(plan: Planner, fake: FakeCluster) -> None:
    silent = fake.masters["broker-b"]
    silent.silent = True
    silent.ends |= {("Orders", queue_id): (0, 1) for queue_id in range(2, 64)}
    plan(ResetKind.EARLIEST)
    assert len(silent.asked) <= 8


def test_a_read_only_master_leaves_its_queues_out(plan: Planner, fake: FakeCluster) -> None:
    fake.masters["broker-b"].config["brokerPermission"] = "4"
    left = [stored_words(row.left_out) for row in rows(plan(ResetKind.EARLIEST)) if stored_words(row.left_out)]
    assert len(left) == 2
    assert "is read-only" in left[0]


def test_a_broadcasting_group_is_refused(plan: Planner, fake: FakeCluster) -> None:
    fake.masters["broker-a"].members["billing"] = ["10.0.0.7@1"]
    fake.masters["broker-a"].told["messageModel"] = "BROADCASTING"
    reset = plan(ResetKind.EARLIEST)
    assert stored_words(reset.error) is not None
    assert "Broadcasting" in stored_words(reset.error)


def test_targets_outside_of_the_queues_are_refused(plan: Planner) -> None:
    reset = plan(ResetKind.SHIFT, 70)
    assert reset.status == ResetStatus.REFUSED
    assert stored_words(reset.error) is not None
    assert "4 of 4" in stored_words(reset.error)
    assert "120 in Orders/broker-a/0, which has 10 to 100" in stored_words(reset.error)


def test_targets_outside_of_the_queues_are_clipped_where_that_is_wanted(plan: Planner) -> None:
    reset = plan(ResetKind.SHIFT, -70, clip=True)
    assert {(row.wanted, row.target, row.clipped) for row in rows(reset)} == {(-20, 10, True)}
    assert any("clipped" in stored_words(warning) for warning in reset.warnings)


def test_a_queue_that_no_reading_has_seen_yet_is_part_of_it(plan: Planner, fake: FakeCluster) -> None:
    fake.masters["broker-b"].ends["Orders", 2] = (0, 5)
    assert [(row.broker, row.queue_id) for row in rows(plan(ResetKind.EARLIEST))][-1] == ("broker-b", 2)


def test_a_named_queue_that_is_gone_is_refused(plan: Planner) -> None:
    reset = plan(ResetKind.EARLIEST, queues=[{"topic": "Orders", "broker": "broker-a", "queue_id": 7}])
    assert stored_words(reset.error) == "broker-a has no queue 7 of Orders. Readable queues: 2."


def test_only_the_named_queue_is_moved(plan: Planner) -> None:
    reset = plan(ResetKind.EARLIEST, queues=[{"topic": "Orders", "broker": "broker-b", "queue_id": 1}])
    assert [(row.broker, row.queue_id) for row in rows(reset)] == [("broker-b", 1)]


def test_only_the_named_brokers_queues_are_moved(plan: Planner) -> None:
    assert {row.broker for row in rows(plan(ResetKind.EARLIEST, brokers=["broker-b"]))} == {"broker-b"}


def test_queues_of_a_master_that_name_servers_do_not_list_are_left_out(plan: Planner, fake: FakeCluster) -> None:
    fake.unlisted = {"broker-b"}
    left = [stored_words(row.left_out) for row in rows(plan(ResetKind.EARLIEST)) if stored_words(row.left_out)]
    assert left == ["Name servers list no queue of Orders on broker-b: it is down, or lost the topic."] * 2


def test_a_topic_that_is_gone_is_refused(plan: Planner, fake: FakeCluster) -> None:
    for master in fake.masters.values():
        master.ends.clear()
    assert stored_words(plan(ResetKind.EARLIEST, topics=["Orders"]).error) == "No broker has the topic Orders any more."


def test_offsets_of_a_list_are_each_queues_own(plan: Planner) -> None:
    listed = [{"topic": "Orders", "broker": "broker-a", "queue_id": queue, "offset": 20 + queue} for queue in range(2)]
    assert [(row.queue_id, row.target) for row in rows(plan(ResetKind.OFFSETS, listed))] == [(0, 20), (1, 21)]


def test_a_copied_group_without_a_commit_leaves_the_queue_out(plan: Planner, fake: FakeCluster, group: Any) -> None:
    type(group).objects.create(cluster=group.cluster, name="shipping", kind="user", first_seen_at=NOW)
    fake.masters["broker-a"].offsets["shipping", "Orders", 0] = 33
    told = [(row.target, stored_words(row.left_out)) for row in rows(plan(ResetKind.COPY, "shipping"))]
    assert told[0] == (33, None)
    assert {why for target, why in told[1:]} == {"shipping has no committed offset there."}


def test_messages_are_read_of_no_more_queues_than_is_set(plan: Planner, settings: Any) -> None:
    settings.RESET_MESSAGE_TIMES = 1
    told = rows(plan(ResetKind.EARLIEST))
    assert sum(row.target_time is not None for row in told) == 1
    assert {row.unknown.get("target_time") for row in told} == {
        None,
        stored_reason(RowReason.TIMES_LIMITED, most=1),
    }


def test_a_popped_topic_is_told_of(plan: Planner, fake: FakeCluster) -> None:
    fake.masters["broker-a"].members["billing"] = ["10.0.0.7@1"]
    fake.masters["broker-a"].modes = {"Orders": {"billing": "POP", "shipping": "PULL"}}
    assert any("popped messages of Orders" in stored_words(warning) for warning in plan(ResetKind.EARLIEST).warnings)


def test_a_reset_that_another_worker_planned_is_left_alone(plan: Planner) -> None:
    reset = plan(ResetKind.EARLIEST, working_at=NOW)
    assert reset.status == ResetStatus.PLANNING
    assert not rows(reset)
