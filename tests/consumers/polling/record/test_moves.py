"""When a group's offsets were last seen to move."""

import pytest

from consumers.models import Cluster, ConsumerGroup
from consumers.polling.record.recorder import Recorder
from tests.readings import T0, at, broker, reading, row


@pytest.fixture
def recorder(db):
    return Recorder.of(Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0))


def moved_at(recorder, *readings):
    for one in readings:
        recorder.record(one, None, None)
    return ConsumerGroup.objects.get(name="billing").moved_at


def orders(consumer, broker_offset=10, queue_id=0):
    return row("billing", "Orders", queue_id, consumer, broker_offset)


@pytest.mark.parametrize(
    ("sentence", "second", "expected"),
    [
        ("forward", [orders(8)], at(15)),
        ("backward", [orders(6)], at(15)),
        ("only the broker's offset", [orders(7, 11)], None),
        ("a first commit", [orders(7), orders(1, queue_id=1)], at(15)),
        ("a queue that was never committed is listed", [orders(7), orders(None, queue_id=1)], None),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_it_moves(recorder, sentence, second, expected):
    readings = reading(0, broker("broker-a", orders(7))), reading(15, broker("broker-a", *second))
    assert moved_at(recorder, *readings) == expected, sentence


def test_a_broker_that_is_read_for_the_first_time_is_no_move(recorder):
    both = broker("broker-a", orders(7)), broker("broker-b", orders(9))
    assert moved_at(recorder, reading(0, both[0]), reading(15, *both)) is None


def test_moves_of_other_groups_are_theirs(recorder):
    other = [broker("broker-a", orders(7), row("shipping", "Orders", 0, offset, 10)) for offset in (1, 2)]
    assert moved_at(recorder, reading(0, other[0]), reading(15, other[1])) is None
    assert ConsumerGroup.objects.get(name="shipping").moved_at == at(15)


def test_it_is_written_once_a_minute(recorder):
    readings = [reading(15 * number, broker("broker-a", orders(number, 100))) for number in range(5)]
    assert moved_at(recorder, *readings) == at(15)
    assert moved_at(recorder, reading(75, broker("broker-a", orders(9, 100)))) == at(75)


def test_a_move_while_nobody_watched_is_seen_by_the_next_process(recorder):
    recorder.record(reading(0, broker("broker-a", orders(7))), None, None)
    later = Recorder.of(recorder.cluster)
    assert moved_at(later, reading(86400, broker("broker-a", orders(8)))) == at(86400)
