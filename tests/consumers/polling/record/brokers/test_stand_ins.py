"""A slave that answers in its master's place with less than was read before: unknown or lost, never a smaller lag."""

from dataclasses import replace

import pyarrow.compute as pc
import pytest

from consumers.lake.reader import read_moment
from consumers.lake.store import Lake
from consumers.models import Broker, Cluster, ConsumerGroup, GroupBroker, GroupTotal, Queue, QueueSnapshot
from consumers.polling.record.recorder import Recorder
from consumers.vocabulary.states import UnknownReason
from tests.readings import T0, at, broker, reading, row

pytestmark = pytest.mark.django_db
SLAVE = "127.0.0.1:2"
LISTS = (["billing"], {"Orders": 4})


@pytest.fixture
def cluster():
    return Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)


@pytest.fixture(params=["one process", "a process for each reading"])
def record(cluster, request):
    """Records readings, 15 s apart."""
    one, seconds = Recorder.of(cluster), iter(range(0, 1000, 15))

    def record(*brokers):
        recorder = one if request.param == "one process" else Recorder.of(cluster)
        recorder.record(reading(next(seconds), *brokers), None, None)

    return record


def master(consumer, end, **more):
    reason = None if consumer is not None else UnknownReason.NEVER_COMMITTED
    return broker("broker-a", row("billing", "Orders", 0, consumer, end, unknown_reason=reason), **more)


def slave(consumer, end, reason=None, **more):
    reason = reason or (None if consumer is not None else UnknownReason.NEVER_COMMITTED)
    part = broker("broker-a", row("billing", "Orders", 0, consumer, end, unknown_reason=reason), **more)
    return replace(part, read_from=SLAVE, master_error="refused")


def shown():
    found = QueueSnapshot.objects.get(group__name="billing")
    return found.consumer_offset, found.broker_offset, found.unknown_reason


@pytest.mark.parametrize(
    ("of_master", "of_slave", "expected"),
    [
        ((7, 10), (7, 10), (7, 10, None)),
        ((7, 10), (8, 12), (8, 12, None)),
        ((7, 10), (6, 10), (None, 10, UnknownReason.SLAVE_BEHIND)),
        ((7, 10), (7, 9), (None, None, UnknownReason.SLAVE_BEHIND)),
        ((7, 10), (None, 10), (None, 10, UnknownReason.OFFSET_LOST)),
        ((7, 10), (None, 9), (None, None, UnknownReason.OFFSET_LOST)),
        ((7, 10), (7, None, UnknownReason.TOPIC_GONE), (None, None, UnknownReason.SLAVE_BEHIND)),
        ((None, 10), (0, 10), (0, 10, None)),
    ],
)
def test_a_queue_of_which_the_slave_says_less_is_unknown_or_lost(record, of_master, of_slave, expected):
    record(master(*of_master))
    for _ in range(3):
        record(slave(*of_slave))
        assert shown() == expected


def test_the_last_offset_that_the_master_said_is_kept_until_the_master_is_back(record):
    record(master(7, 10))
    for _ in range(2):
        record(slave(3, 10))
        found = QueueSnapshot.objects.get()
        assert (found.lost_offset, found.lost_at) == (7, at(0))
    record(master(7, 10))
    assert shown() == (7, 10, None)


@pytest.mark.parametrize(("of_slave", "kept"), [(6, 6), (7, None), (9, None)], ids=["older", "equal", "newer"])
def test_the_history_store_keeps_what_a_slave_had_less_than_its_master(cluster, tmp_path, of_slave, kept):
    lake, recorder = Lake.at(str(tmp_path)), Recorder.of(cluster)
    recorder.record(reading(0, master(7, 10)), None, lake)

    recorder.record(reading(15, slave(of_slave, 10)), None, lake)

    wanted = read_moment(lake, "readings", "prod", at(15), ["slave_offset"], pc.scalar(True))
    assert wanted["slave_offset"].to_pylist() == [kept]


def test_a_group_with_an_older_offset_has_no_lag(record):
    second = row("billing", "Orders", 1, 4, 5)
    record(broker("broker-a", row("billing", "Orders", 0, 7, 10), second))
    older = broker("broker-a", row("billing", "Orders", 0, 3, 8), second)
    record(replace(older, read_from=SLAVE))
    total = GroupTotal.objects.get()
    assert (total.lag_messages, total.lag_messages_at_least, total.unknown_reason) == (
        None,
        1,
        UnknownReason.SLAVE_BEHIND,
    )


def test_an_offset_that_the_slave_brings_beyond_the_masters_is_known(record):
    record(master(7, 10))
    record(slave(3, 10))
    record(slave(9, 10))
    assert shown() == (9, 10, None)


def test_other_brokers_may_go_back_as_ever(record):
    record(master(7, 10), broker("broker-b", row("audit", "Orders", 0, 7, 10)))
    record(slave(3, 10), broker("broker-b", row("audit", "Orders", 0, 3, 10)))
    assert QueueSnapshot.objects.get(queue__broker="broker-b").consumer_offset == 3


@pytest.mark.parametrize("copy", [3, 7])
def test_a_slaves_old_copy_does_not_end_a_loss_of_its_master(record, copy):
    record(master(7, 10))
    record(master(None, 10))
    assert shown()[2] == UnknownReason.OFFSET_LOST
    record(slave(copy, 10))
    assert shown() == (None, 10, UnknownReason.OFFSET_LOST)
    assert GroupTotal.objects.get().lost_queues == 1


def test_a_commit_to_the_slave_that_lacked_the_offset_ends_the_loss(record):
    record(master(7, 10))
    record(slave(None, 10))
    assert shown()[2] == UnknownReason.OFFSET_LOST
    record(slave(1, 10))
    assert shown() == (1, 10, None)


def test_an_offset_that_is_known_again_where_it_stood_has_not_moved(record):
    for part in (master(7, 10), slave(3, 10), master(7, 10)):
        record(part)
    assert ConsumerGroup.objects.get().moved_at is None


def test_what_a_slave_lists_is_not_its_masters_configuration(record):
    record(master(7, 10, lists=LISTS))
    record(slave(7, 10, lists=([], {})))
    assert GroupBroker.objects.get().configured
    assert Queue.objects.get().readable
    assert Broker.objects.get().read_from == SLAVE


@pytest.mark.parametrize(("on_slave", "expected"), [(5, 5), (6, 6), (4, None)])
def test_dead_letters_that_the_slave_lacks_are_not_gone(record, on_slave, expected):
    def letters(end):
        return [{"topic": "%DLQ%billing", "queue_id": 0, "broker_offset": end, "min_offset": 0}]

    record(master(7, 10, dead_letters=letters(5)))
    for _ in range(2):
        record(slave(7, 10, dead_letters=letters(on_slave)))
        assert GroupTotal.objects.get().dlq_messages == expected
    record(master(7, 10, dead_letters=letters(5)))
    assert GroupTotal.objects.get().dlq_messages == 5
