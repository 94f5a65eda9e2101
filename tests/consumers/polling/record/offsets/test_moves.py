"""When a group's offsets were last seen to move."""

import pytest

from consumers.models import Cluster, ConsumerGroup, ResetStatus, ResetStep
from consumers.polling.flags import has_unlisted_members
from consumers.polling.kind_limits import KindLimits
from consumers.polling.record.recorder import Recorder
from tests.readings import T0, at, broker, group_members, members, reading, row
from tests.reset_rows import a_reset, a_reset_queue

LIMITS = KindLimits()


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
        ("backward", [orders(6)], None),
        ("backward on one queue, forward on another", [orders(6), row("billing", "Orders", 1, 3, 9)], at(15)),
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


@pytest.fixture
def poll(recorder):
    """A reading every 15 s from `first` on: `offsets` of queue 0; its broker's offset is always 10,000."""

    def poll(first, offsets, error=None):
        for number, offset in enumerate(offsets):
            part = broker("broker-a", orders(offset, 10_000)) if error is None else broker("broker-a", error=error)
            recorder.record(reading(first + 15 * number, part), None, None)

    return poll


def offline(since=0):
    ConsumerGroup.objects.update(online=False, offline_since=at(since), membership_at=at(since))


def flagged():
    group = ConsumerGroup.objects.get(name="billing")
    return has_unlisted_members(group, LIMITS)


def reset_of(written, offset, *, finished=None, **fields):
    """A reset from here of queue 0; it is being applied where it is not finished."""
    group = ConsumerGroup.objects.get(name="billing")
    status = ResetStatus.APPLYING if finished is None else ResetStatus.APPLIED
    times = {"started_at": at(written), "finished_at": None if finished is None else at(finished)}
    row = {"step": ResetStep.READ_BACK, "before_at": at(written), "written_at": at(written), "target": offset}
    row |= {"after": offset, "after_at": None if finished is None else at(finished)}
    return a_reset_queue(a_reset(group, status=status, **times), **row | fields)


def test_members_of_a_proxy_are_found_within_a_minute(poll):
    """A minute after brokers listed no member; every reading sees a move."""
    poll(0, [0])
    offline()
    poll(15, [100 * number for number in range(1, 5)])
    assert not flagged()
    poll(75, [500, 600])
    assert flagged()
    assert ConsumerGroup.objects.get(name="billing").moved_at == at(90)


def test_one_jump_of_a_group_without_members_is_somebody_s(poll):
    """And so are two, with an hour between them."""
    poll(0, [100])
    offline()
    poll(3600, [9000, 9000])
    poll(7200, [9500, 9500])
    assert not flagged()
    assert ConsumerGroup.objects.get(name="billing").moved_at is None


def test_a_trickle_is_consumption_after_some_readings(poll):
    """One message a minute: no two readings in a row see a move."""
    poll(0, [0])
    offline()
    for number in range(1, 10):
        poll(60 * number, [number, number])
    assert not flagged()
    poll(600, [10])
    assert flagged()


def test_moves_of_the_last_member_are_not_counted_as_in_a_row(poll):
    """Its last commits come within the minute; afterwards somebody skips once."""
    poll(0, [0])
    offline()
    poll(15, [100, 200, 300, 300, 300, 300])
    poll(600, [9000, 9000, 9000])
    assert not flagged()


def test_an_offset_that_falls_breaks_the_row(recorder, poll):
    """Somebody sets the offsets of several queues by a time: some rise, some fall."""
    poll(0, [100])
    recorder.record(reading(15, broker("broker-a", orders(100), orders(50, queue_id=1))), None, None)
    offline(15)
    for number in range(1, 6):
        rows = [orders(100 + 10 * number, 10_000), orders(50 - number, 10_000, queue_id=1)]
        recorder.record(reading(600 + 15 * number, broker("broker-a", *rows)), None, None)
    assert not flagged()


def test_members_that_come_back_begin_anew(poll, recorder):
    poll(0, [0])
    offline()
    poll(75, [100, 100])
    assert ConsumerGroup.objects.get(name="billing").moves_offline == 1
    back = members(120, [group_members("billing", "10.0.0.1@7")])
    recorder.record(reading(120, broker("broker-a", orders(100, 10_000))), back, None)
    row = ConsumerGroup.objects.get(name="billing")
    assert (row.offline_since, row.moves_offline) == (None, 0)


def test_the_count_outlives_the_process(recorder, poll):
    poll(0, [0])
    offline()
    for number in range(1, 11):
        later = Recorder.of(recorder.cluster)
        later.record(reading(60 + 60 * number, broker("broker-a", orders(number, 10_000))), None, None)
    assert flagged()


def test_a_reset_and_its_restore_are_no_consumption_of_a_group_without_members(poll):
    poll(0, [5000])
    offline()
    poll(600, [5000])
    reset_of(605, 9000, finished=620)
    poll(615, [9000, 9000, 9000])
    reset_of(670, 5000, finished=685)
    poll(675, [5000, 5000])
    # And forward again, one queue after the other, while the third one is still being applied.
    reset_of(701, 9000)
    poll(705, [9000, 9100, 9200, 9300])
    row = ConsumerGroup.objects.get(name="billing")
    assert (flagged(), row.moved_at, row.moves_offline) == (False, None, 0)


@pytest.mark.parametrize(
    ("sentence", "fields", "expected"),
    [
        ("being told", {"step": "writing", "written_at": None, "after": None}, None),
        ("told, and not read back", {"step": "written", "after": None}, None),
        ("told without an answer", {"step": "unanswered", "after": None}, None),
        ("refused", {"step": "failed", "written_at": None, "after": None}, at(15)),
        ("not its turn yet", {"step": "planned", "before_at": None, "written_at": None}, at(15)),
        ("there already", {"method": "nothing"}, at(15)),
        ("of another queue", {"queue_id": 7}, at(15)),
        ("of another broker", {"broker": "broker-b"}, at(15)),
        ("of another topic", {"topic": "Refunds"}, at(15)),
        ("read at its target long before", {"finished": -3600}, at(15)),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_a_move_of_a_queue_is_a_reset_s_where_it_may_be(poll, sentence, fields, expected):
    poll(0, [7])
    reset_of(5, 8, **fields)
    poll(15, [8])
    assert ConsumerGroup.objects.get(name="billing").moved_at == expected, sentence


def test_a_reset_while_its_broker_was_not_read_is_known_when_it_is_read_again(poll):
    poll(0, [7])
    poll(15, [None] * 20, error="broker-a timed out")
    reset_of(100, 900, finished=110)
    poll(600, [900])
    assert ConsumerGroup.objects.get(name="billing").moved_at is None
    poll(615, [901])
    assert ConsumerGroup.objects.get(name="billing").moved_at == at(615)


def test_a_reset_of_another_group_explains_nothing(poll, recorder):
    poll(0, [7])
    other = ConsumerGroup.objects.create(cluster=recorder.cluster, name="shipping", kind="user", first_seen_at=T0)
    times = {"step": ResetStep.WRITTEN, "before_at": at(5), "written_at": at(5)}
    a_reset_queue(a_reset(other, status=ResetStatus.APPLYING, started_at=at(1)), **times)
    poll(15, [8])
    assert ConsumerGroup.objects.get(name="billing").moved_at == at(15)
