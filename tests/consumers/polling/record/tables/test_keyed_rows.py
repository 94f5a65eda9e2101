"""Rows stored and deleted by their natural keys. The postgres tier runs these on PostgreSQL too."""

import json

import pytest

from consumers.models import Cluster, ConsumerGroup, GroupKind, GroupTotal, Queue, QueueSnapshot, QueueState, Topic
from consumers.polling.record import keyed_rows
from consumers.polling.record.keyed_rows import delete, rewrite, upsert, upsert_rows
from tests.readings import T0, at

pytestmark = pytest.mark.django_db
TOTAL = ("queues", "lag_messages", "unknown_reason", "last_good_at", "retired_queues")


@pytest.fixture
def cluster():
    return Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)


@pytest.fixture
def groups(cluster):
    names = ("billing", "shipping")
    return [
        ConsumerGroup.objects.create(cluster=cluster, name=name, kind=GroupKind.USER, first_seen_at=T0).pk
        for name in names
    ]


@pytest.fixture
def queues(cluster):
    topic = Topic.objects.create(cluster=cluster, name="Orders", kind="normal", first_seen_at=T0)
    return [Queue.objects.create(topic=topic, broker="broker-a", queue_id=number).pk for number in range(2)]


def put(groups, **columns):
    size = len(groups)
    whole = {"queues": [1] * size, "never_committed_queues": [0] * size, "changed_at": [T0] * size} | columns
    upsert(GroupTotal, ["group"], {"group": groups, **whole})


def stored():
    return list(GroupTotal.objects.order_by("group").values_list(*TOTAL))


def test_rows_are_made_with_nulls_and_times_as_they_are(groups):
    put(groups, lag_messages=[2**62, None], unknown_reason=[None, "50 % {silent}"], last_good_at=[None, at(7)])
    assert stored() == [(1, 2**62, None, None, 0), (1, None, "50 % {silent}", at(7), 0)]


def test_rows_that_exist_are_brought_up_and_keep_what_is_not_named(groups):
    put(groups, lag_messages=[3, 4])
    GroupTotal.objects.update(retired_queues=5)
    put(groups[1:], queues=[9])
    assert stored() == [(1, 3, None, None, 5), (9, 4, None, None, 5)]


def test_rows_that_exist_keep_the_fields_that_are_to_stay(groups):
    put(groups[:1], lag_messages=[3], last_good_at=[at(7)])
    size = {"queues": [2] * 2, "never_committed_queues": [0] * 2, "changed_at": [T0] * 2}
    columns = {"group": groups, **size, "lag_messages": [4, 5], "last_good_at": [at(9)] * 2}
    upsert(GroupTotal, ["group"], columns, keep=["last_good_at"])
    assert stored() == [(2, 4, None, at(7), 0), (2, 5, None, at(9), 0)]


def test_rows_by_field_name_are_stored_as_columns_are(groups):
    times = {"never_committed_queues": 0, "changed_at": T0}
    for queues in (1, 2):
        upsert_rows(GroupTotal, ["group"], [{"group": pk, "queues": queues, **times} for pk in groups])
        upsert_rows(GroupTotal, ["group"], [])
        assert [row[0] for row in stored()] == [queues, queues]


@pytest.mark.parametrize("form", [json.dumps, dict])
def test_values_of_a_json_field_are_json_texts_or_objects(groups, queues, form):
    detail = {"lag_messages": 3, "owner": 'it\'s \u6d88\u8d39 "a"'}
    texts = {"state": ["STOP"], "rule": ["no_members"], "time_lag_kind": ["unknown"], "detail": [form(detail)]}
    key, times = {"group": groups[:1], "queue": queues[:1]}, {"since": [T0], "judged_at": [T0]}
    for _ in range(2):
        upsert(QueueState, ["group", "queue"], key | times | texts)
        assert QueueState.objects.get().detail == detail
    assert QueueState.objects.filter(detail__lag_messages=3).exists()


def test_with_keys_alone_rows_that_exist_stay_as_they_are(queues):
    Queue.objects.update(readable=True)
    topic = Topic.objects.get().pk
    columns = {"topic": [topic] * 2, "broker": ["broker-a"] * 2, "queue_id": [1, 2]}
    upsert(Queue, ["topic", "broker", "queue_id"], columns)
    assert sorted(Queue.objects.values_list("queue_id", "readable")) == [(0, True), (1, True), (2, None)]


def test_no_rows_are_nothing_to_do(groups):
    put([])
    delete(GroupTotal, {"group": []})
    assert stored() == []


def test_more_rows_than_one_transaction_takes_are_all_stored(groups, monkeypatch):
    monkeypatch.setattr(keyed_rows, "BATCH", 1)
    put(groups)
    assert len(stored()) == 2


def test_only_rows_with_the_whole_key_are_deleted(groups, queues):
    pairs = [(group, queue) for group in groups for queue in queues]
    columns = {"group": [group for group, _ in pairs], "queue": [queue for _, queue in pairs]}
    upsert(QueueSnapshot, ["group", "queue"], columns | {"changed_at": [T0] * 4})
    delete(QueueSnapshot, {"group": groups, "queue": queues})
    left = set(QueueSnapshot.objects.values_list("group_id", "queue_id"))
    assert left == {(groups[0], queues[1]), (groups[1], queues[0])}


def test_without_update_rows_that_exist_keep_everything(groups):
    put(groups, lag_messages=[3, 4])
    columns = {"queues": [9], "never_committed_queues": [9], "changed_at": [T0]}
    upsert(GroupTotal, ["group"], {"group": groups[:1], **columns}, update=False)
    assert [row[:2] for row in stored()] == [(1, 3), (1, 4)]


def test_rows_are_changed_by_their_primary_keys_in_the_named_columns_alone(groups):
    put(groups, lag_messages=[3, 4], queues=[7, 7])
    rewrite(GroupTotal, groups[::-1], {"lag_messages": [5, None], "last_good_at": [at(7), None]})
    assert stored() == [(7, None, None, None, 0), (7, 5, None, at(7), 0)]


def test_a_row_that_is_gone_is_not_made_again(groups):
    put(groups[:1])
    rewrite(GroupTotal, groups, {"queues": [8, 9]})
    assert [row[0] for row in stored()] == [8]


def test_no_rows_are_nothing_to_rewrite(groups):
    put(groups[:1])
    rewrite(GroupTotal, [], {"queues": []})
    assert [row[0] for row in stored()] == [1]
