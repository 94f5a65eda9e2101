"""When the first unconsumed message of a queue was stored, as far as a reading and the one before it tell."""

from dataclasses import replace

import pytest

from consumers.models import Cluster, GroupTotal, QueueSnapshot
from consumers.polling.brokers.dispatch_backlog import DispatchBacklog
from consumers.polling.record.recorder import Recorder
from consumers.vocabulary.times import microseconds
from tests.readings import T0, at, broker, reading, row


@pytest.fixture
def recorder(db):
    return Recorder.of(Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0))


@pytest.fixture(autouse=True)
def intervals(settings):
    settings.CONSUMERSCOPE_POLL_SECONDS = 15
    settings.JUDGE = settings.JUDGE | {"commit_interval_seconds": 5}


def orders(consumer, end, queue_id=0):
    return broker("broker-a", row("billing", "Orders", queue_id, consumer, end))


def recorded(recorder, *parts, every=15):
    for number, part in enumerate(parts):
        recorder.record(reading(every * number, part), None, None)


def first_stored(queue_id=0):
    """Seconds after the first reading, and the error in seconds."""
    found = QueueSnapshot.objects.get(queue__queue_id=queue_id)
    if found.first_stored_us is None:
        assert found.first_stored_error_us is None
        return None
    return (found.first_stored_us - microseconds(T0)) / 1e6, found.first_stored_error_us / 1e6


# Consumer and broker offset of each reading, 15 s apart, and when the first message was stored.
STORIES = {
    "level": ([(7, 7), (7, 7)], None),
    "the first reading": ([(7, 10)], None),
    "a message came": ([(7, 7), (7, 8)], 0),
    "consumed half of what came": ([(7, 10), (12, 14)], 7.5),
    "consumed what was there, and none of what came": ([(7, 10), (10, 14)], 0),
    "not moved since, while nothing is produced": ([(7, 10), (12, 14), (12, 14)], 7.5),
    "not moved since, while more is produced": ([(7, 10), (12, 14), (12, 30)], 7.5),
    "moved on to what came later": ([(7, 10), (12, 14), (14, 18)], 15),
    "caught up": ([(7, 10), (12, 14), (14, 14)], None),
    "moved to a message that was there before": ([(7, 10), (9, 14)], None),
    "not moved, and not known before": ([(7, 10), (7, 14)], None),
    "known, then moved to a message that was there before": ([(7, 10), (12, 20), (13, 30)], None),
    "set back": ([(7, 10), (12, 14), (11, 20)], None),
    "set back to where the broker was": ([(12, 10), (10, 14)], None),
    "the broker offset went back": ([(7, 7), (7, 10), (7, 9)], None),
    "the broker offset went back, and the consumer's too": ([(7, 10), (3, 5)], None),
    "ahead of the broker before": ([(12, 9), (12, 20)], None),
    "its first commit": ([(None, 9), (9, 12)], None),
}


@pytest.mark.parametrize(("offsets", "seconds"), STORIES.values(), ids=[name.replace(" ", "_") for name in STORIES])
def test_it_is_known_where_the_two_readings_decide(recorder, offsets, seconds):
    recorded(recorder, *(orders(*one) for one in offsets))
    assert first_stored() == (None if seconds is None else (seconds, 20))


def test_its_error_is_the_time_between_the_readings_and_a_commit(recorder):
    recorded(recorder, orders(7, 10), orders(12, 14), every=40)
    assert first_stored() == (20, 45)


def test_after_a_reading_that_failed_nothing_is_known_of_an_offset_that_moved(recorder):
    recorded(recorder, orders(7, 10), broker("broker-a", error="refused"), orders(12, 14))
    assert first_stored() is None


def test_after_a_reading_that_failed_an_offset_that_stood_still_has_its_time(recorder):
    recorded(recorder, orders(7, 10), orders(12, 14), broker("broker-a", error="refused"), orders(12, 20))
    assert first_stored() == (7.5, 20)


def test_after_the_reading_that_follows_a_failed_one_it_is_known_again(recorder):
    recorded(recorder, orders(7, 10), broker("broker-a", error="refused"), orders(12, 14), orders(15, 16))
    assert first_stored() == (37.5, 20)


@pytest.mark.parametrize(
    ("more", "known"),
    [
        ({"read_from": "10.0.0.2:10911"}, None),
        ({"dispatch": DispatchBacklog(2**30)}, None),
        ({"dispatch": DispatchBacklog(1)}, (7.5, 20)),
        ({"dispatch": DispatchBacklog(None, "refused")}, (7.5, 20)),
    ],
    ids=["of a slave", "messages were hidden", "hardly any was hidden", "not told whether any was hidden"],
)
def test_a_broker_offset_that_may_lack_messages_begins_nothing(recorder, more, known):
    recorded(recorder, replace(orders(7, 10), **more), orders(12, 14))
    assert first_stored() == known


def test_a_clock_that_was_set_back_begins_nothing(recorder):
    recorder.record(reading(60, orders(7, 10)), None, None)
    recorder.record(reading(15, orders(12, 14)), None, None)
    assert first_stored() is None


def test_the_next_process_knows_it(recorder):
    recorded(recorder, orders(7, 10), orders(12, 14))
    Recorder.of(recorder.cluster).record(reading(30, orders(12, 20)), None, None)
    assert first_stored() == (7.5, 20)


def test_the_next_process_knows_the_reading_before(recorder):
    recorded(recorder, orders(7, 10))
    Recorder.of(recorder.cluster).record(reading(15, orders(12, 14)), None, None)
    assert first_stored() == (7.5, 20)


def test_a_queue_that_was_gone_begins_anew(recorder):
    other = broker("broker-a", row("billing", "Others", 0, 1, 1))
    recorded(recorder, orders(7, 10), other, orders(12, 14))
    assert QueueSnapshot.objects.get(queue__topic__name="Orders").first_stored_us is None


def both(first, second):
    return broker("broker-a", row("billing", "Orders", 0, *first), row("billing", "Orders", 1, *second))


def test_a_group_has_the_earliest_of_its_queues(recorder):
    recorded(recorder, both((7, 10), (7, 7)), both((12, 14), (7, 9)))
    assert (first_stored(0), first_stored(1)) == ((7.5, 20), (0, 20))
    assert GroupTotal.objects.get().first_stored_us == microseconds(at(0))


def test_a_group_has_none_while_one_of_its_queues_has_none(recorder):
    recorded(recorder, both((7, 10), (5, 7)), both((12, 14), (6, 9)))
    assert (first_stored(0), first_stored(1)) == ((7.5, 20), None)
    assert GroupTotal.objects.get().first_stored_us is None
