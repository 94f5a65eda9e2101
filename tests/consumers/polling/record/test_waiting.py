"""Since when messages wait behind a consumer offset, reading by reading."""

import pytest

from consumers.models import Cluster, QueueSnapshot
from consumers.polling.record.recorder import Recorder
from tests.readings import T0, at, broker, reading, row


@pytest.fixture
def recorder(db):
    return Recorder.of(Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0))


def orders(consumer, end, queue_id=0):
    return broker("broker-a", row("billing", "Orders", queue_id, consumer, end))


def waiting_since(queue_id=0):
    return QueueSnapshot.objects.get(queue__queue_id=queue_id).waiting_since


# Consumer and broker offset of each reading, 15 s apart, and the reading that it waits since.
STORIES = {
    "level": ([(7, 7), (7, 7)], None),
    "behind from the first reading on": ([(7, 9)], 0),
    "still, while nothing is produced": ([(7, 9), (7, 9)], 0),
    "still, while more is produced": ([(7, 9), (7, 10), (7, 30)], 0),
    "behind and moving": ([(7, 9), (8, 10), (9, 11)], 2),
    "set back": ([(7, 9), (3, 9)], 1),
    "caught up": ([(7, 9), (9, 9)], None),
    "behind again after it was level": ([(7, 9), (9, 9), (9, 9), (9, 12), (9, 12)], 3),
    "ahead of the broker, so that no lag is known": ([(7, 9), (12, 9)], None),
    "never committed": ([(None, 9), (None, 9)], None),
    "its first commit": ([(None, 9), (2, 9)], 1),
}


@pytest.mark.parametrize(("offsets", "since"), STORIES.values(), ids=[name.replace(" ", "_") for name in STORIES])
def test_it_waits_since_the_first_reading_with_this_offset_and_a_lag(recorder, offsets, since):
    for number, (consumer, end) in enumerate(offsets):
        recorder.record(reading(15 * number, orders(consumer, end)), None, None)
    assert waiting_since() == (None if since is None else at(15 * since))


def test_the_next_process_knows_it(recorder):
    recorder.record(reading(0, orders(7, 9)), None, None)
    Recorder.of(recorder.cluster).record(reading(15, orders(7, 12)), None, None)
    assert waiting_since() == at(0)


def test_a_broker_that_was_not_read_for_a_while_has_queues_that_waited(recorder):
    recorder.record(reading(0, orders(7, 9)), None, None)
    recorder.record(reading(15, broker("broker-a", error="refused")), None, None)
    recorder.record(reading(30, orders(7, 12)), None, None)
    assert waiting_since() == at(0)


def test_each_queue_waits_for_itself(recorder):
    def both(first, second):
        return broker("broker-a", row("billing", "Orders", 0, first, 9), row("billing", "Orders", 1, second, 9))

    recorder.record(reading(0, both(7, 7)), None, None)
    recorder.record(reading(15, both(7, 8)), None, None)
    assert (waiting_since(0), waiting_since(1)) == (at(0), at(15))
