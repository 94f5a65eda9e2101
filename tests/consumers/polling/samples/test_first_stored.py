"""When the first unconsumed message was stored: whom to ask, what the answer means, how long it holds."""

from datetime import UTC, datetime

import pytest

from consumers.polling.samples.first_stored import Lagging, ask_first, forget_moved, plan_first
from consumers.polling.samples.reading import FirstStored, SampleMemory
from consumers.words.reasons import stored_words
from tests.consumers.polling.peer import ask, found, offset_answer, stored
from tests.readings import T0, at, broker, row

KEY = ("billing", "Orders", "broker-a", 0)
STORED_MS = 1_772_330_400_250
STORED_AT = datetime(2026, 3, 1, 2, 0, 0, 250000, tzinfo=UTC)


def answered(offset=4, error=None, asked=0):
    return FirstStored(offset, None if error else STORED_AT, error, at(asked))


def key(queue_id, group="billing"):
    return (group, "Orders", "broker-a", queue_id)


def planned(memory, rows, wanted=(), calls=20, now=T0):
    return [(one.key[3], one.offset) for one in plan_first(memory, [broker("broker-a", *rows)], wanted, calls, now)]


LAGS = [row("billing", "Orders", queue_id, 4, 4 + lag) for queue_id, lag in enumerate([5, 0, 90, 7])]


def test_the_largest_lags_are_asked_first():
    assert planned(SampleMemory(), LAGS) == [(2, 4), (3, 4), (0, 4)]


def test_the_longest_judged_time_lags_come_before_them():
    assert planned(SampleMemory(), LAGS, wanted=[key(3), key(9), key(1)]) == [(3, 4), (2, 4), (0, 4)]


def test_each_queue_costs_two_calls_of_the_budget():
    assert [len(planned(SampleMemory(), LAGS, calls=calls)) for calls in (0, 1, 2, 5, 6)] == [0, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("known", "now", "is_asked"),
    [
        (answered(), at(3600), False),
        (answered(offset=3), at(0), True),
        (answered(error="silence"), at(59), False),
        (answered(error="silence"), at(60), True),
    ],
)
def test_an_answer_holds_while_the_offset_stands_and_a_failure_for_a_minute(known, now, is_asked):
    rows = [row("billing", "Orders", 0, 4, 9)]
    assert bool(planned(SampleMemory(first={KEY: known}), rows, now=now)) is is_asked


def test_answered_queues_leave_the_budget_to_others():
    memory = SampleMemory(first={key(2): answered(), key(3): answered()})
    assert planned(memory, LAGS, calls=2) == [(0, 4)]


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "dlq"},
        {"group": "CID_RMQ_SYS_TRANS"},
        {"unknown_reason": "the broker offset was not read"},
        {"consumer_offset": None, "unknown_reason": "never_committed"},
        {"consumer_offset": 9},
    ],
)
def test_queues_without_a_known_lag_and_groups_of_rocketmq_s_own_are_not_asked(fields):
    assert planned(SampleMemory(), [row("billing", "Orders", 0, 4, 9) | fields], wanted=[KEY]) == []


def test_a_topic_that_was_refused_is_left_alone_for_ten_minutes():
    memory = SampleMemory(refused={("broker-a", "Orders"): (at(600), "no permission")})
    assert [planned(memory, LAGS[:1], now=at(seconds)) for seconds in (599, 600)] == [[], [(0, 4)]]


@pytest.mark.parametrize(
    ("rows", "is_gone"),
    [
        ([row("billing", "Orders", 0, 4, 9)], False),
        ([row("billing", "Orders", 0, 5, 9)], True),
        ([row("billing", "Orders", 0, 4, 4)], True),
        ([row("billing", "Orders", 1, 4, 9)], True),
    ],
)
def test_an_answer_goes_when_the_offset_moves_or_the_lag_ends(rows, is_gone):
    memory = SampleMemory(first={KEY: answered()})
    assert forget_moved(memory, [broker("broker-a", *rows)]) == ({KEY} if is_gone else set())
    assert (KEY not in memory.first) is is_gone


@pytest.mark.parametrize(
    ("ends", "is_gone", "why"),
    [
        ((8,), True, "the topic was created anew since it was asked"),
        ((90, 12), True, "and since a later reading"),
        ((90, 90), False, "nothing new was stored"),
        ((9, 90), False, "more was stored"),
    ],
)
def test_an_answer_goes_with_the_queue_that_it_is_of_though_the_offset_is_the_same(ends, is_gone, why):
    """Another message lies there, stored much later."""
    memory = SampleMemory()
    first({31: offset_answer(0), 11: found(stored(4, STORED_MS))}, memory)
    gone = [forget_moved(memory, [broker("broker-a", row("billing", "Orders", 0, 4, end))]) for end in ends]
    assert gone[-1] == ({KEY} if is_gone else set()), why
    assert (KEY not in memory.first) is is_gone


def test_what_is_forgotten_leaves_nothing():
    memory = SampleMemory()
    for number in range(3):
        first({31: offset_answer(0), 11: found(stored(4, STORED_MS))}, memory)
        forget_moved(memory, [broker("broker-a", row("billing", "Orders", 0, 5 + number, 9))])
    assert (memory.first, memory.ends) == ({}, {})


@pytest.mark.parametrize("silent", [broker("broker-a", error="refused"), broker("broker-b")])
def test_an_answer_stays_while_its_broker_is_silent(silent):
    memory = SampleMemory(first={KEY: answered()})
    assert forget_moved(memory, [silent]) == set()


def first(answers, memory=None):
    memory = SampleMemory() if memory is None else memory

    async def use(admins):
        return await ask_first(admins, [Lagging(KEY, 4, 5)], memory, at(0), 1.0)

    answers, asked = ask(answers, use)
    assert memory.first == answers
    return answers[KEY], asked


def test_the_store_time_of_the_message_at_the_offset_is_the_answer():
    answer, asked = first({31: offset_answer(4), 11: found(stored(4, STORED_MS))})
    assert answer == FirstStored(4, STORED_AT, None, at(0))
    assert [(code, fields.get("consumerGroup"), fields.get("queueOffset")) for code, fields in asked] == [
        (31, None, None),
        (11, "TOOLS_CONSUMER", "4"),
    ]


def test_an_expired_message_is_not_asked_for():
    answer, asked = first({31: offset_answer(5)})
    assert (answer.stored_at, stored_words(answer.error)) == (None, "the message at 4 has expired: the oldest is at 5")
    assert [code for code, _ in asked] == [31]


@pytest.mark.parametrize(
    ("pulled", "error"),
    [
        (found(stored(6, STORED_MS)), "the message at 4 is gone: the broker continues at 6"),
        ({"code": 21, "ext_fields": {"nextBeginOffset": "7"}}, "the message at 4 is gone: the broker continues at 7"),
        ({"code": 20, "ext_fields": {"nextBeginOffset": "8"}}, "the message at 4 is gone: the broker continues at 8"),
        ({"code": 19, "ext_fields": {"nextBeginOffset": "4"}}, "the broker has no message at 4 yet"),
    ],
)
def test_another_message_is_no_answer(pulled, error):
    answer, _ = first({31: offset_answer(0), 11: pulled})
    assert (answer.stored_at, stored_words(answer.error)) == (None, error)


def test_a_refused_pull_marks_the_whole_topic_with_the_reason():
    memory = SampleMemory()
    answer, _ = first({31: offset_answer(0), 11: {"code": 16, "remark": "no matched policies"}}, memory)
    assert answer.error.endswith("NO_PERMISSION (16): no matched policies")
    assert memory.refusal("broker-a", "Orders", at(599)) == answer.error
    assert memory.refusal("broker-a", "Orders", at(600)) is None


def test_another_failure_is_of_its_queue_alone():
    memory = SampleMemory()
    answer, _ = first({31: offset_answer(0), 11: {"code": 1}}, memory)
    assert answer.error
    assert memory.refused == {}
