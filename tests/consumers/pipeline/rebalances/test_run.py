"""Rebalances from the files of a lake to their rows."""

import pytest

from consumers.lake.store import Lake
from consumers.models import Client, GroupState, Queue, Rebalance, RebalanceTopic
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import run
from consumers.pipeline.rebalance_rows import write_rebalances
from consumers.pipeline.rebalances.run import find_rebalances
from consumers.vocabulary.times import from_microseconds
from tests.pipeline_rows import at, put, rows
from tests.rebalance_histories import clients, every, membership, ownership
from tests.rebalance_rows import a_rebalance
from tests.world import a_cluster, a_group, a_judged_group, a_queue

pytestmark = pytest.mark.django_db

# b joins and takes two of the four queues; brokers say the same of every queue all the time.
JOINED = every(0, 60, a="0123") + every(75, 120, a="01", b="23")

EVERY_TAG = {"expression": "*", "expression_type": "TAG"}
SUBSCRIBED = {"subscriptions": [{"topic": topic, **EVERY_TAG} for topic in ("Orders", "%RETRY%billing")]}


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


def a_history(lake: Lake, group_name: str = "billing") -> None:
    cluster = a_cluster(read_at=None)
    group = a_group(cluster, group_name, first_seen_at=at(-600), members_changed_at=at(75), **SUBSCRIBED)
    a_judged_group(group)
    for queue_id in range(4):
        a_queue(cluster, "Orders", queue_id)
        put(lake, "readings", rows([(100, 100)] * 9, queue_id=queue_id, group=group_name), prefix=f"{queue_id}-")
    Queue.objects.update(readable=True)
    put(lake, "membership", membership(group_name, JOINED))
    offsets = {"commit_offset": 100}
    held = [{**row, **offsets} for row in ownership(group_name, JOINED)]
    retries = [{**row, "topic": "%RETRY%billing"} for row in held if (row["client_id"], row["queue_id"]) == ("a", 0)]
    put(lake, "ownership", held + retries)
    for row in clients(JOINED):
        interval = {
            "seen_since": from_microseconds(row["seen_us"]),
            "last_seen": from_microseconds(row["last_seen_us"]),
        }
        named = {"client_id": row["client_id"], "address": row["address"], "language": "JAVA"}
        Client.objects.create(group=group, started_at=at(-3600), **named, **interval)


def found(lake: Lake, since: float, until: float) -> int:
    made = find_rebalances(lake, ["prod"], at(since), at(until), Durations())
    return 0 if made is None else write_rebalances(made.events, made.topics, made.spans, at(until))


def everything() -> list[list[tuple]]:
    return [list(model.objects.order_by("pk").values_list()) for model in (Rebalance, RebalanceTopic)]


def test_a_rebalance_is_one_row_from_its_first_sight_until_it_settles(lake):
    a_history(lake)

    assert found(lake, 0, 80) == 1
    row = Rebalance.objects.get()
    assert (row.started_after, row.started_before, row.settled_at) == (at(60), at(75), None)
    assert (row.cause, row.client_ids_before, row.client_ids_after) == ("joined", ["a"], ["a", "b"])

    assert found(lake, 60, 135) == 1
    settled = Rebalance.objects.get()
    assert (settled.pk, settled.settled_at, settled.polls) == (row.pk, at(75), 1)
    topic = settled.topics.get()
    assert (topic.topic, topic.queues, topic.queues_moved, topic.unknown) == ("Orders", 4, 2, {})
    assert (topic.unowned_queue_seconds, topic.replayed_messages, topic.lag_before_messages) == (0, 0, 0)
    assert [(move["queue_id"], move["before"], move["after"]) for move in topic.moves] == [
        (2, ["a"], ["b"]),
        (3, ["a"], ["b"]),
    ]
    assert GroupState.objects.get().last_rebalance_at == at(75)

    # Files of older readings are gone by and by; rows of what they told are not.
    a_rebalance(settled.group, at(0))
    before = everything()
    found(lake, 0, 135)
    assert everything() == before


def test_moves_of_a_retry_queue_are_kept_and_no_topic_of_the_rebalance(lake):
    a_history(lake)
    retry = {"topic": "%RETRY%billing", "queue_id": 0, "client_id": "b", "commit_offset": 100}
    later = [row for row in ownership("billing", JOINED) if row["client_id"] == "b" and row["taken_at"] >= at(75)]
    put(lake, "ownership", [{**row, **retry} for row in later if row["queue_id"] == 2], prefix="retry-")

    found(lake, 60, 135)

    row = Rebalance.objects.get()
    assert [topic.topic for topic in row.topics.all()] == ["Orders"]
    assert [(move["topic"], move["queue_id"], move["after"]) for move in row.retry_moves] == [
        ("%RETRY%billing", 0, ["a", "b"]),
    ]
    assert [topic for topic, _ in row.moves()] == ["Orders", "Orders", "%RETRY%billing"]


def test_a_group_that_pops_has_a_row_per_topic_without_numbers(lake):
    a_history(lake)
    Client.objects.update(pop_queues=[{"topic": "Orders", "broker": "broker-a", "queue_id": 0, "wait_ack_count": 0}])

    found(lake, 60, 135)

    topic = RebalanceTopic.objects.get()
    assert (topic.topic, topic.queues_moved, topic.unowned_queue_seconds) == ("Orders", None, None)
    assert topic.unknown["queues_moved"] == "owners_before_not_sampled"


def test_without_a_changed_group_no_file_is_opened(lake):
    a_group(a_cluster(read_at=None), first_seen_at=at(-600), members_changed_at=at(-600))
    assert find_rebalances(lake, ["prod"], at(0), at(60), Durations()) is None


def test_a_run_writes_the_rebalances_that_it_finds(without_spark, lake):
    a_history(lake)
    assert run(without_spark, lake, ["prod"], at(60), at(135), Durations()).rebalances == 1
    assert Rebalance.objects.get().cause == "joined"
