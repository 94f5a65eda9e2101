"""What one reading learns of delay levels: next due, a sample in its turn, the timer wheel, and what fails of it."""

import pytest

from consumers.polling.delay_answers import DelayLimits, DelayOffsets, GroupRung, LevelSample
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.vocabulary.reasons import PollProblem, stored_reason
from consumers.words.reasons import stored_words
from tests.consumers.polling.delays.schedule_peer import ScheduleBroker, after, collect, collected, delayed, retry_of

PULL, LOOK, WHEEL = RequestCode.PULL_MESSAGE, RequestCode.QUERY_CONSUME_QUEUE, RequestCode.GET_TIMER_METRICS


def test_the_first_message_after_what_was_delivered_is_due_next():
    broker = ScheduleBroker({3: [retry_of("billing", stored=-12), retry_of("billing", stored=-4)]}, {3: 1})
    [found] = collect(broker)
    level = found.levels[3]
    assert (level.delay_offset, level.broker_offset, level.next_due.due_at) == (1, 2, after(-4 + 10))


def test_a_level_that_delivered_nothing_yet_waits_from_its_beginning():
    [found] = collect(ScheduleBroker({3: [retry_of("billing", stored=-4)]}))
    assert (found.levels[3].delay_offset, found.levels[3].next_due.due_at) == (0, after(6))


def test_a_level_without_messages_is_asked_nothing():
    broker = ScheduleBroker({3: [], 4: [delayed()]}, {4: 1})
    [found] = collect(broker)
    assert [found.levels[level].next_due for level in (3, 4)] == [None, None]
    assert broker.asked[LOOK] + broker.asked[PULL] == 0
    assert set(found.samples) == {1, 2, 3, 4}
    assert all(sample == LevelSample() for sample in found.samples.values())


def test_retries_are_counted_by_group_and_attempt_and_others_are_only_looked_at():
    messages = [retry_of("billing", 1, -9), retry_of("billing", 2, -8), delayed(), retry_of("audit", 1, -7)]
    [found] = collect(ScheduleBroker({3: messages}))
    billing = GroupRung(2, {1: 1, 2: 1}, after(-9), after(1))
    assert found.samples[3] == LevelSample(
        4, 4, {"billing": billing, "audit": GroupRung(1, {1: 1}, after(-7), after(3))}
    )


def test_what_was_delivered_already_is_not_looked_at():
    [found] = collect(ScheduleBroker({3: [retry_of("audit"), retry_of("billing")]}, {3: 1}))
    assert (found.samples[3].looked_at, list(found.samples[3].groups)) == (1, ["billing"])


def test_what_came_after_the_reading_is_not_looked_at():
    [found] = collect(ScheduleBroker({3: [retry_of("billing")] * 5}), delays=DelayOffsets({}, {3: 3}), configured=None)
    assert (found.samples[3].looked_at, found.samples[3].sampled_of) == (3, 3)


def test_a_backlog_that_fits_is_looked_at_whole_though_a_pull_gives_little():
    [found] = collect(ScheduleBroker({3: [retry_of("billing")] * 20}, gives=8))
    assert (found.samples[3].looked_at, found.samples[3].groups["billing"].messages) == (20, 20)


def test_a_backlog_that_does_not_fit_is_spread_from_its_head():
    broker = ScheduleBroker({3: [retry_of("billing")] * 1000}, {3: 100})
    [found] = collect(broker, limits=DelayLimits(sample_calls=3))
    assert [offset for _, offset in sorted(broker.pulled_from)] == [100, 400, 700]
    assert (found.samples[3].looked_at, found.samples[3].sampled_of) == (96, 900)


def test_messages_that_are_gone_are_passed_over():
    broker = ScheduleBroker({3: [retry_of("billing")] * 10}, first=6)
    [found] = collect(broker)
    assert (found.samples[3].looked_at, found.samples[3].sampled_of) == (4, 10)
    assert "no message at 0" in stored_words(found.levels[3].next_due.error)


def test_samples_and_wheels_have_their_turn_and_next_dues_are_remembered():
    broker = ScheduleBroker({3: [retry_of("billing")]}, wheel={"%RETRY%billing+Orders": 4, "Orders": 3})
    readings = collect(broker, 0, 15, 59, 60)
    assert [bool(reading.samples) for reading in readings] == [True, False, False, True]
    assert [reading.wheel and reading.wheel.counts for reading in readings] == [
        {"%RETRY%billing+Orders": 4},
        None,
        None,
        {"%RETRY%billing+Orders": 4},
    ]
    assert (broker.asked[PULL], broker.asked[WHEEL], broker.asked[LOOK]) == (2, 2, 1)


def test_a_level_that_went_on_is_asked_again():
    broker = ScheduleBroker({3: [retry_of("billing", stored=-9), retry_of("billing", stored=-2)]})
    readings = collect(broker, 0, 15, before=lambda number: broker.delivered.update({3: number}))
    assert [reading.levels[3].next_due.due_at for reading in readings] == [after(1), after(8)]


def test_levels_beyond_the_budget_say_that_they_were_not_asked():
    broker = ScheduleBroker({3: [delayed()], 4: [delayed()]})
    [found] = collect(broker, limits=DelayLimits(due_calls=1))
    assert found.levels[3].next_due.error is None
    assert (found.levels[4].next_due.due_at, found.levels[4].next_due.error) == (
        None,
        stored_reason(PollProblem.LEVEL_NOT_ASKED, offset="0"),
    )


def test_levels_without_a_call_are_sampled_in_the_next_turn():
    broker = ScheduleBroker({2: [delayed()], 3: [delayed()]})
    readings = collect(broker, 0, 60, limits=DelayLimits(sample_calls=1))
    assert [sorted(level for level, sample in reading.samples.items() if sample.looked_at) for reading in readings] == [
        [2],
        [3],
    ]


def test_without_its_delays_no_message_of_a_group_is_due_at_a_known_time():
    [found] = collect(ScheduleBroker({3: [retry_of("billing")]}), configured="garbage")
    assert found.samples[3].groups["billing"].next_due_at is None
    assert found.levels[3].next_due.due_at is not None


def test_levels_beyond_the_queues_of_the_schedule_topic_are_asked_for():
    broker = ScheduleBroker({4: [delayed(), delayed()]}, {4: 1})
    offsets = DelayOffsets({4: 1}, {1: 0, 2: 0, 3: 0})
    [found] = collect(broker, delays=offsets)
    assert (found.levels[4].delay_offset, found.levels[4].broker_offset) == (1, 2)
    assert broker.asked[RequestCode.GET_MAX_OFFSET] == 1


@pytest.mark.parametrize(
    ("part", "error"),
    [
        ({"read_from": "127.0.0.1:2"}, stored_reason(PollProblem.FROM_SLAVE)),
        ({"delays": DelayOffsets(error="refused")}, "refused"),
        ({"delays": DelayOffsets()}, stored_reason(PollProblem.NO_SCHEDULE_TOPIC)),
    ],
    ids=["a slave", "a failure", "no schedule topic"],
)
def test_a_broker_whose_levels_are_not_known_is_asked_nothing(part, error):
    broker = ScheduleBroker({3: [delayed()]})
    [found] = collect(broker, **part)
    assert (found.error, found.levels, found.samples, found.wheel) == (error, {}, {}, None)
    assert not broker.asked


def test_a_broker_that_was_not_read_is_not_in_it():
    assert collect(ScheduleBroker({3: [delayed()]}), error="connection refused") == []


def test_a_refused_pull_is_the_samples_error_alone():
    [found] = collect(ScheduleBroker({3: [delayed()]}, refuses={PULL: ResponseCode.NO_PERMISSION}))
    assert "NO_PERMISSION" in found.samples[3].error
    assert found.levels[3].next_due.due_at is not None


def test_a_broker_that_lets_nobody_pull_is_left_alone_for_ten_minutes():
    broker = ScheduleBroker({3: [delayed()]}, refuses={PULL: ResponseCode.NO_PERMISSION})
    readings = collect(broker, 0, 60, 599, 660)
    assert [3 in reading.samples for reading in readings] == [True, False, False, True]
    assert broker.asked[PULL] == 2


def test_a_pull_that_failed_otherwise_is_tried_in_the_next_turn():
    broker = ScheduleBroker({3: [delayed()]}, refuses={PULL: ResponseCode.SYSTEM_BUSY})
    assert [3 in reading.samples for reading in collect(broker, 0, 60)] == [True, True]


def test_a_refused_look_is_that_levels_error_alone_and_is_asked_again():
    broker = ScheduleBroker({3: [delayed()]}, refuses={LOOK: ResponseCode.SYSTEM_ERROR})
    readings = collect(broker, 0, 15, before=lambda number: number and broker.refuses.clear())
    assert "SYSTEM_ERROR" in readings[0].levels[3].next_due.error
    assert readings[1].levels[3].next_due.due_at is not None


def test_a_wheel_that_is_off_is_left_alone_for_ten_minutes():
    broker = ScheduleBroker({3: []}, refuses={WHEEL: ResponseCode.SYSTEM_ERROR})
    readings = collect(broker, 0, 60, 599, 660)
    assert [reading.wheel is not None for reading in readings] == [True, False, False, True]
    assert "not now" in readings[0].wheel.error


def test_it_tells_what_it_cost():
    readings = [reading.summary for reading in collected(ScheduleBroker({3: [retry_of("billing")] * 3}), 0, 15)]
    assert [{name: reading[name] for name in ("levels_waiting", "looked_at")} for reading in readings] == [
        {"levels_waiting": 1, "looked_at": 3},
        {"levels_waiting": 1, "looked_at": 0},
    ]
    # Three more levels are configured: their ends are asked for; then when the first is due, a pull and the wheel.
    assert [reading["calls"] for reading in readings] == [3 + 1 + 1 + 1, 3]
    assert readings[0]["bytes"] > readings[1]["bytes"] > 0
