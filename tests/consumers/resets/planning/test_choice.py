"""What a plan is about where nobody named queues: rows, and what the past names."""

from typing import Any

import pytest

from consumers.models import ConsumerGroup, Queue, Reset, ResetKind, ResetQueue, ResetStatus, ResetStep
from consumers.resets.planning.chosen import choice_of
from consumers.resets.target_values import QueueKey
from consumers.rocketmq.wire.codes import RequestCode
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import RowReason
from consumers.words.reasons import stored_words
from tests.reset_cluster import FakeCluster
from tests.reset_rows import at_once
from tests.world import NOW, a_queue

from .conftest import Planner
from .test_plan import rows, stored_at


@pytest.fixture
def applied(group: ConsumerGroup) -> Reset:
    """It moved Orders/broker-a/0 from 33, and a queue that is gone since from 7."""
    names = {"cluster_name": "prod", "group_name": "billing", "by_name": "ann", "reason": "a try"}
    values = {"kind": ResetKind.LATEST, "status": ResetStatus.APPLIED, "created_at": NOW}
    reset = Reset.objects.create(group=group, **names, **values)
    for queue_id, before in ((0, 33), (9, 7)):
        place = {"topic": "Orders", "broker": "broker-a", "queue_id": queue_id}
        ResetQueue.objects.create(
            reset=reset, **place, before=before, target=100, method="server_side", step=ResetStep.WRITTEN
        )
    return reset


def test_a_restore_goes_back_to_where_the_queues_stood(plan: Planner, applied: Reset) -> None:
    told = [
        (row.queue_id, row.target, stored_words(row.left_out)) for row in rows(plan(ResetKind.RESTORE, str(applied.pk)))
    ]
    assert told == [(0, 33, None), (9, None, "broker-a has no queue 9 of Orders. Readable queues: 2.")]


def test_queues_of_a_restore_that_are_gone_are_left_out_though_topics_were_chosen(
    plan: Planner, applied: Reset
) -> None:
    reset = plan(ResetKind.RESTORE, str(applied.pk), topics=["Orders"])
    assert (reset.status, reset.queues_of_it.count()) == (ResetStatus.PLANNED, 2)


def test_brokers_narrow_a_restore_down(plan: Planner, applied: Reset) -> None:
    reset = plan(ResetKind.RESTORE, str(applied.pk), brokers=["broker-b"])
    assert stored_words(reset.error) == "No queue to reset: select the topics."


def test_queues_that_nobody_can_read_any_more_are_not_missed(group: ConsumerGroup) -> None:
    a_queue(group.cluster, queue_id=5)
    Queue.objects.filter(queue_id=5).update(readable=False)
    choice = choice_of(Reset(kind=ResetKind.EARLIEST, cluster_name="prod", group_name="billing"), group, at_once)
    assert choice.topics == ("Orders",)
    assert choice.seen == {
        QueueKey("Orders", broker, queue_id) for broker in ("broker-a", "broker-b") for queue_id in (0, 1)
    }


def test_too_many_queues_are_refused_though_rows_knew_fewer(plan: Planner, fake: FakeCluster, settings: Any) -> None:
    settings.RESET_QUEUES_MAX = 4
    fake.masters["broker-a"].ends["Orders", 2] = (0, 1)
    error = plan(ResetKind.EARLIEST).error
    assert error is not None
    assert "5 queues exceed RESET_QUEUES_MAX (4)" in stored_words(error)


def test_what_the_past_warns_of_stands_among_the_warnings(plan: Planner, fake: FakeCluster, group: Any) -> None:
    ConsumerGroup.objects.create(cluster=group.cluster, name="shipping", kind="user", first_seen_at=NOW)
    fake.masters["broker-a"].offsets["shipping", "Orders", 0] = 33
    assert any(
        "The offsets of shipping" in stored_words(warning) for warning in plan(ResetKind.COPY, "shipping").warnings
    )


def test_a_queue_without_messages_is_not_searched(plan: Planner, fake: FakeCluster) -> None:
    fake.masters["broker-a"].ends["Orders", 0] = (40, 40)
    row = rows(plan(ResetKind.TIME, stored_at(30).isoformat()))[0]
    assert (row.target, row.unknown) == (40, {"target_time": stored_reason(RowReason.AT_THE_END)})
    searched = [
        request.ext_fields["queueId"]
        for request in fake.masters["broker-a"].asked
        if request.code == RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
    ]
    assert searched == ["1"]


def test_times_are_read_of_the_queues_that_move_most(plan: Planner, fake: FakeCluster, settings: Any) -> None:
    settings.RESET_MESSAGE_TIMES = 1
    fake.masters["broker-b"].offsets["billing", "Orders", 0] = 90
    told = {(row.broker, row.queue_id): row.target_time for row in rows(plan(ResetKind.EARLIEST))}
    assert {place for place, at in told.items() if at is not None} == {("broker-b", 0)}


def test_members_are_told_all_queues_of_a_topic_at_a_broker_or_none(plan: Planner, fake: FakeCluster) -> None:
    for master in fake.masters.values():
        master.members["billing"] = ["10.0.0.7@1"]
        master.config["useServerSideResetOffset"] = "false"
    del fake.masters["broker-b"].offsets["billing", "Orders", 1]
    told = rows(plan(ResetKind.EARLIEST))
    assert [row.method for row in told] == ["client_side", "client_side", None, None]
    assert stored_words(told[2].left_out) is not None
    assert "queue 1 cannot be" in stored_words(told[2].left_out)
