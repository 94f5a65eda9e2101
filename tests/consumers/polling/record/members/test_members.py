"""Members and what they hold, as intervals."""

from dataclasses import replace

import pytest

from consumers.lake.store import Lake
from consumers.models import Assignment, Client, Cluster, ConsumerGroup
from consumers.polling.record.recorder import Recorder
from tests.readings import T0, at, broker, client, group_members, member, members, owned, reading, row

pytestmark = pytest.mark.django_db

Q0, Q1 = owned("Orders", "broker-a", 0), owned("Orders", "broker-a", 1)


@pytest.fixture
def record(tmp_path):
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    recorder, lake = Recorder.of(cluster), Lake.at(str(tmp_path))
    rows = row("billing", "Orders", 0, 7, 10), row("billing", "Orders", 1, 7, 10)

    def record(seconds, groups, clients=()):
        recorder.record(reading(seconds, broker("broker-a", *rows)), members(seconds, groups, clients), lake)

    return record


def intervals():
    rows = Assignment.objects.order_by("queue__queue_id", "seen_since")
    return [(r.queue.queue_id, r.client_id, r.seen_since, r.last_seen, r.gone_by) for r in rows]


def test_members_are_counted_when_every_broker_answered(record):
    record(0, [group_members("billing", "c1", "c2")])
    group = ConsumerGroup.objects.get()
    assert (group.online, group.members, group.membership_at) == (True, 2, at(0))


def test_a_group_is_offline_only_when_every_broker_says_so(record):
    record(0, [group_members("billing", error="broker-b: silent")])
    assert ConsumerGroup.objects.get().online is None
    record(15, [group_members("billing")])
    assert ConsumerGroup.objects.get().online is False


def test_a_group_is_offline_since_the_first_full_answer_without_a_member(record):
    answers = (["c1"], None), ([], "broker-b: silent"), ([], None), ([], "broker-b: silent"), ([], None)
    seen = []
    for number, (present, error) in enumerate(answers):
        record(15 * number, [group_members("billing", *present, error=error)])
        seen.append(ConsumerGroup.objects.get().offline_since)
    assert seen == [None, None, at(30), at(30), at(30)]


def test_a_member_that_any_broker_lists_ends_being_offline(record):
    record(0, [group_members("billing")])
    record(15, [group_members("billing", "c1", error="broker-b: silent")])
    assert ConsumerGroup.objects.get().offline_since is None


def test_a_member_that_left_is_gone_by_the_reading_that_lacks_it(record):
    record(0, [group_members("billing", "c1", "c2")])
    record(15, [group_members("billing", "c1")])
    assert dict(Client.objects.values_list("client_id", "gone_by")) == {"c1": None, "c2": at(15)}


def test_an_incomplete_answer_lets_nobody_go(record):
    record(0, [group_members("billing", "c1", "c2")])
    record(15, [group_members("billing", "c1", error="broker-b: silent")])
    assert not Client.objects.exclude(gone_by=None).exists()


def test_an_incomplete_answer_takes_no_queue_from_who_is_missing_in_it(record):
    record(0, [group_members("billing", "c1", "c2")], [client("billing", "c1", Q0), client("billing", "c2", Q1)])
    record(15, [group_members("billing", "c2", error="broker-b: silent")], [client("billing", "c2", Q1)])
    assert intervals() == [(0, "c1", at(0), at(0), None), (1, "c2", at(0), at(15), None)]


def test_an_owned_queue_is_an_interval_that_grows(record):
    for seconds in (0, 15):
        record(seconds, [group_members("billing", "c1")], [client("billing", "c1", Q0)])
    assert intervals() == [(0, "c1", at(0), at(15), None)]


def test_a_queue_that_moved_ends_one_interval_and_begins_another(record):
    both = [group_members("billing", "c1", "c2")]
    record(0, both, [client("billing", "c1", Q0, Q1), client("billing", "c2")])
    record(15, both, [client("billing", "c1", Q0), client("billing", "c2", Q1)])
    assert intervals() == [
        (0, "c1", at(0), at(15), None),
        (1, "c1", at(0), at(0), at(15)),
        (1, "c2", at(15), at(15), None),
    ]


def test_a_client_that_does_not_answer_keeps_its_queues(record):
    record(0, [group_members("billing", "c1")], [client("billing", "c1", Q0)])
    record(15, [group_members("billing", "c1")], [client("billing", "c1", error="timed out")])
    assert intervals() == [(0, "c1", at(0), at(0), None)]
    assert Client.objects.get().running_info_error == "timed out"


def said(client_id, **settings):
    return replace(client("billing", client_id), settings=settings, pop_queues=({"topic": "T", "wait_ack_count": 2},))


def test_what_a_client_says_of_its_settings_and_pops_is_kept(record):
    record(0, [group_members("billing", "c1")], [said("c1", pullBatchSize="32")])
    record(15, [group_members("billing", "c1")], [client("billing", "c1", error="timed out")])
    stored = Client.objects.get()
    assert (stored.settings, stored.pop_queues) == ({"pullBatchSize": "32"}, [{"topic": "T", "wait_ack_count": 2}])


REMOTE = "org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore"


@pytest.mark.parametrize(
    ("answers", "outside", "why"),
    [
        ([[said("c1", offsetStore=REMOTE)]], None, "RocketMQ's own"),
        ([[said("c1")]], None, "it named none"),
        ([[said("c1", offsetStore="com.shop.Store")]], "com.shop.Store", "one of its own"),
        ([[said("c1", offsetStore="com.shop.Store")], [said("c2", offsetStore=REMOTE)]], "com.shop.Store", "mixed"),
        ([[said("c1", offsetStore="com.shop.Store")], [said("c1", offsetStore=REMOTE)]], None, "changed"),
        ([[said("c1", offsetStore="com.shop.Store")], []], "com.shop.Store", "nobody spoke since"),
    ],
)
def test_a_store_outside_rocketmq_is_the_group_s(record, answers, outside, why):
    for number, client_answers in enumerate(answers):
        record(15 * number, [group_members("billing", "c1", "c2")], client_answers)
    assert ConsumerGroup.objects.get().outside_store == outside, why


def test_a_store_goes_with_the_last_member_that_had_it(record):
    record(0, [group_members("billing", "c1", "c2")], [said("c1", offsetStore="com.shop.Store")])
    record(15, [group_members("billing", "c2")], [said("c2", offsetStore=REMOTE)])
    assert ConsumerGroup.objects.get().outside_store is None


def test_a_client_that_left_holds_nothing(record):
    record(0, [group_members("billing", "c1")], [client("billing", "c1", Q0)])
    record(15, [group_members("billing")])
    assert intervals() == [(0, "c1", at(0), at(0), at(15))]


def test_a_dropped_queue_is_not_held(record):
    dropped = owned("Orders", "broker-a", 0, dropped=True)
    record(0, [group_members("billing", "c1")], [client("billing", "c1", dropped)])
    assert intervals() == []


def test_the_same_client_on_another_connection_is_another_interval(record):
    record(0, [group_members("billing", "c1")])
    again = replace(group_members("billing"), members=(member("c1", address="10.0.0.1:6000"),))
    record(15, [again])
    rows = Client.objects.order_by("seen_since").values_list("address", "seen_since", "gone_by")
    assert list(rows) == [("10.0.0.1:5000", at(0), at(15)), ("10.0.0.1:6000", at(15), None)]
