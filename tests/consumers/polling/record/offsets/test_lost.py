"""An offset that was read before and that the broker has no more is lost: never forgotten, never "never committed"."""

import pyarrow.parquet as pq
import pytest

from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup, GroupTotal, LossAcknowledgement, QueueSnapshot
from consumers.polling.record.recorder import Recorder
from consumers.vocabulary.states import UnknownReason
from tests.readings import T0, at, broker, group_members, members, reading, row

pytestmark = pytest.mark.django_db

ORDERS = row("billing", "Orders", 0, 7, 10)
OTHER = row("audit", "Other", 0, 1, 1)
NEVER = row("billing", "Orders", 0, None, 12, min_offset=3, unknown_reason=UnknownReason.NEVER_COMMITTED)
LISTED = (["billing", "audit"], {"Orders": 4, "Other": 4})


@pytest.fixture
def cluster():
    return Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


@pytest.fixture
def record(cluster, lake):
    """Records readings, 15 s apart, by one process."""
    recorder, seconds = Recorder.of(cluster), iter(range(0, 1000, 15))

    def record(*brokers, told=None, by=recorder):
        by.record(reading(next(seconds), *brokers), told, lake)
        return by

    return record


def lost():
    found = QueueSnapshot.objects.get(group__name="billing", queue__queue_id=0)
    return found.unknown_reason, found.consumer_offset, found.lost_offset, found.lost_at


def is_forgotten():
    return not QueueSnapshot.objects.filter(group__name="billing").exists()


@pytest.mark.parametrize("lists", [None, LISTED], ids=["lists not read since", "topic and group listed"])
def test_an_offset_that_vanishes_is_lost_and_keeps_its_last_value_and_time(record, lists):
    record(broker("broker-a", ORDERS, OTHER))
    record(broker("broker-a", ORDERS, OTHER))
    record(broker("broker-a", OTHER, lists=lists))
    assert lost() == (UnknownReason.OFFSET_LOST, None, 7, at(15))


def test_it_stays_lost_with_the_same_words_from_reading_to_reading(record):
    record(broker("broker-a", ORDERS))
    for part in (broker("broker-a"), broker("broker-a", NEVER), broker("broker-a", lists=LISTED), broker("broker-a")):
        record(part)
        assert lost() == (UnknownReason.OFFSET_LOST, None, 7, at(0))


def test_a_queue_that_the_broker_calls_never_committed_after_an_offset_was_read_is_lost(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a", NEVER))
    assert lost() == (UnknownReason.OFFSET_LOST, None, 7, at(0))
    found = QueueSnapshot.objects.get()
    assert (found.broker_offset, found.min_offset) == (12, 3)


def test_a_queue_whose_offset_was_never_read_is_never_committed(record):
    record(broker("broker-a", NEVER))
    record(broker("broker-a", NEVER))
    assert lost() == (UnknownReason.NEVER_COMMITTED, None, None, None)


@pytest.mark.parametrize(
    ("groups", "topics"),
    [(["audit"], {"Orders": 4}), (["billing"], {"Other": 4}), (["billing"], {})],
    ids=["group deleted", "topic deleted", "no topic at all"],
)
def test_what_the_brokers_own_lists_lack_is_forgotten(record, groups, topics):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a", lists=(groups, topics)))
    assert is_forgotten()


def test_a_deletion_that_is_listed_later_ends_a_loss(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a"))
    assert lost()[0] == UnknownReason.OFFSET_LOST
    record(broker("broker-a", lists=([], {"Orders": 4})))
    assert is_forgotten()


def test_what_a_slave_lists_says_nothing_of_what_was_deleted(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a", lists=([], {}), read_from="127.0.0.1:2"))
    assert lost() == (UnknownReason.OFFSET_LOST, None, 7, at(0))


def test_an_offset_that_a_late_slave_hid_is_lost_when_the_master_comes_back_without_it(record):
    record(broker("broker-a", ORDERS))
    behind = row("billing", "Orders", 0, None, None, unknown_reason=UnknownReason.SLAVE_BEHIND)
    record(broker("broker-a", behind, read_from="127.0.0.1:2"))
    assert lost()[:2] == (UnknownReason.SLAVE_BEHIND, None)
    record(broker("broker-a", NEVER))
    assert lost() == (UnknownReason.OFFSET_LOST, None, 7, at(0))


def test_only_the_queues_of_the_broker_that_lost_them_are_lost(record):
    record(broker("broker-a", ORDERS), broker("broker-b", ORDERS))
    record(broker("broker-a"), broker("broker-b", ORDERS))
    found = dict(QueueSnapshot.objects.values_list("queue__broker", "unknown_reason"))
    assert found == {"broker-a": UnknownReason.OFFSET_LOST, "broker-b": None}


def test_a_broker_that_is_not_read_has_lost_nothing(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a", error="refused"))
    assert lost() == (None, 7, None, None)


def test_a_restarted_process_finds_what_was_lost_while_it_was_away(record, cluster):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a", NEVER), by=Recorder.of(cluster))
    record(broker("broker-a", NEVER), by=Recorder.of(cluster))
    assert lost() == (UnknownReason.OFFSET_LOST, None, 7, at(0))


def test_a_reading_that_finds_nothing_new_writes_nothing(record):
    record(broker("broker-a", ORDERS))
    for _ in range(3):
        record(broker("broker-a", NEVER))
    assert QueueSnapshot.objects.get().changed_at == at(15)


def test_a_commit_ends_the_loss(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a"))
    record(broker("broker-a", row("billing", "Orders", 0, 12, 12)))
    assert lost() == (None, 12, None, None)


def test_a_topic_that_was_created_anew_has_lost_no_offset(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a", row("billing", "Orders", 0, None, 3, unknown_reason=UnknownReason.NEVER_COMMITTED)))
    assert lost() == (UnknownReason.NEVER_COMMITTED, None, None, None)


def test_the_offset_of_a_topic_that_was_gone_before_is_not_lost(record):
    record(broker("broker-a", row("billing", "Orders", 0, 7, None, unknown_reason="topic_gone")))
    record(broker("broker-a"))
    assert is_forgotten()


def test_a_broadcasting_groups_offset_leaves_with_its_members(record):
    joined = members(0, [group_members("billing", "c1", message_model="BROADCASTING")])
    record(broker("broker-a", ORDERS), told=joined)
    record(broker("broker-a", NEVER))
    assert lost()[0] == UnknownReason.NOT_REPORTED
    record(broker("broker-a"))
    assert lost()[0] == UnknownReason.NOT_REPORTED


def test_offsets_that_the_broker_itself_calls_broadcast_are_not_lost_before_members_were_asked(record):
    record(broker("broker-a", ORDERS, broadcasting=frozenset({"billing"})))
    record(broker("broker-a"))
    assert lost()[0] == UnknownReason.NOT_REPORTED


def acknowledge(at_seconds):
    group = ConsumerGroup.objects.get(name="billing")
    return LossAcknowledgement.objects.create(group=group, at=at(at_seconds), by_name="ann", queues=[])


def test_an_acknowledged_loss_is_never_committed_and_remembers_what_was_lost(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a", NEVER))
    taken = acknowledge(20)
    for part in (broker("broker-a", NEVER), broker("broker-a"), broker("broker-a", lists=LISTED)):
        record(part)
        assert lost() == (UnknownReason.NEVER_COMMITTED, None, 7, at(0))
    taken.refresh_from_db()
    assert taken.applied_at == at(30)
    total = GroupTotal.objects.get()
    assert (total.lost_queues, total.never_committed_queues) == (0, 1)


def test_a_loss_after_an_acknowledgement_is_a_loss_again(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a", NEVER))
    acknowledge(20)
    record(broker("broker-a", NEVER))
    record(broker("broker-a", row("billing", "Orders", 0, 12, 12)))
    record(broker("broker-a", row("billing", "Orders", 0, None, 12, unknown_reason=UnknownReason.NEVER_COMMITTED)))
    assert lost() == (UnknownReason.OFFSET_LOST, None, 12, at(45))


def test_an_acknowledged_loss_of_a_deleted_group_is_forgotten(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a"))
    acknowledge(20)
    record(broker("broker-a"))
    record(broker("broker-a", lists=([], {})))
    assert is_forgotten()


def test_an_acknowledgement_on_a_broker_that_is_not_read_waits_for_nothing(record):
    record(broker("broker-a", ORDERS))
    record(broker("broker-a"))
    acknowledge(20)
    record(broker("broker-a", error="refused"))
    assert lost()[0] == UnknownReason.NEVER_COMMITTED


def retire(cluster):
    since = {"Orders": at(-3600).isoformat()}
    ConsumerGroup.objects.filter(cluster=cluster, name="billing").update(online=True, unsubscribed=since)


@pytest.mark.parametrize("part", [broker("broker-a"), broker("broker-a", NEVER)], ids=["no row", "never committed"])
def test_the_offset_of_a_retired_topic_is_given_up(record, cluster, part):
    recorder = record(broker("broker-a", ORDERS))
    retire(cluster)
    record(part)
    assert is_forgotten()
    expected = {("broker-a", "billing", "Orders")} if part.rows.num_rows else set()
    assert recorder.given_up == expected


def test_offsets_of_a_group_that_keeps_its_progress_elsewhere_are_not_lost(record, cluster):
    record(broker("broker-a", ORDERS))
    ConsumerGroup.objects.filter(cluster=cluster).update(outside_store="com.example.OwnStore")
    record(broker("broker-a"))
    assert is_forgotten()


def test_a_groups_own_dead_letters_are_nobodys_progress(record):
    record(broker("broker-a", row("billing", "%DLQ%billing", 0, 7, 10, kind="dlq")))
    record(broker("broker-a"))
    assert is_forgotten()


def test_a_lost_queue_makes_the_lag_unknown_and_is_counted(record):
    second = row("billing", "Orders", 1, 0, 5)
    record(broker("broker-a", ORDERS, second))
    record(broker("broker-a", NEVER, second))
    total = GroupTotal.objects.get()
    assert (total.lag_messages, total.lag_messages_at_least, total.unknown_reason) == (
        None,
        5,
        UnknownReason.OFFSET_LOST,
    )
    assert (total.queues, total.unknown_queues, total.lost_queues, total.never_committed_queues) == (2, 1, 1, 0)
    assert total.expired_messages is None


@pytest.mark.parametrize("part", [broker("broker-a"), broker("broker-a", NEVER)], ids=["no row", "never committed"])
def test_history_has_the_lost_queue_with_its_reason(record, tmp_path, part):
    record(broker("broker-a", ORDERS))
    record(part)
    newest = max(tmp_path.rglob("readings/**/*.parquet"))
    (stored,) = pq.read_table(newest, partitioning=None).to_pylist()
    names = ("group", "topic", "broker", "queue_id", "kind", "consumer_offset", "unknown_reason")
    assert [stored[name] for name in names] == [
        "billing",
        "Orders",
        "broker-a",
        0,
        "normal",
        None,
        UnknownReason.OFFSET_LOST,
    ]
    assert stored["broker_offset"] == (12 if part.rows.num_rows else None)
