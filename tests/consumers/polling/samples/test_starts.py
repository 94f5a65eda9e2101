"""Where a member would start on queues without an offset: whom to ask, and what is asked."""

from datetime import UTC, datetime

import pytest

from consumers.polling.samples.planner import StartRules, Unstarted, ask_starts, forget_started, plan_starts
from consumers.polling.samples.reading import SampleMemory, StartAnswer
from consumers.vocabulary.states import UnknownReason
from consumers.words.reasons import stored_words
from tests.consumers.polling.peer import ask, offset_answer
from tests.readings import T0, at, broker, row

KEY = ("billing", "Orders", "broker-a", 0)
NOT_FOUND = {"code": 22}
FIRST = StartRules("CONSUME_FROM_FIRST_OFFSET")
LAST = StartRules("CONSUME_FROM_LAST_OFFSET")
# The default text of a consumer that was started at 02:30 UTC in the zone UTC+8.
BY_TIME = StartRules("CONSUME_FROM_TIMESTAMP", "20260301100000", datetime(2026, 3, 1, 2, 30, tzinfo=UTC))


def never(queue_id, **fields):
    return row("billing", "Orders", queue_id, None, 9, unknown_reason=UnknownReason.NEVER_COMMITTED, **fields)


def answered(asked=0, error=None):
    return StartAnswer(None if error else 0, "first offset", error, at(asked))


def planned(memory, rows, calls=20, now=T0):
    return [one.key[3] for one in plan_starts(memory, [broker("broker-a", *rows)], calls, now)]


def test_queues_without_an_offset_are_asked_and_no_others():
    assert planned(SampleMemory(), [never(0), row("billing", "Orders", 1, 4, 9), never(2)]) == [0, 2]


@pytest.mark.parametrize("fields", [{"kind": "dlq"}, {"group": "TOOLS_CONSUMER"}])
def test_dead_letters_and_groups_of_rocketmq_s_own_are_not_asked(fields):
    assert planned(SampleMemory(), [never(0) | fields]) == []


def test_each_queue_may_cost_two_calls_of_the_budget():
    assert [planned(SampleMemory(), [never(0), never(1)], calls=calls) for calls in (1, 2, 4)] == [[], [0], [0, 1]]


@pytest.mark.parametrize(
    ("known", "seconds", "is_asked"),
    [
        (answered(), 599, False),
        (answered(), 600, True),
        (answered(error="x"), 59, False),
        (answered(error="x"), 60, True),
    ],
)
def test_an_answer_holds_for_ten_minutes_and_a_failure_for_one(known, seconds, is_asked):
    assert bool(planned(SampleMemory(starts={KEY: known}), [never(0)], now=at(seconds))) is is_asked


def test_those_that_were_never_asked_come_first():
    memory = SampleMemory(starts={KEY: answered()})
    assert planned(memory, [never(0), never(1)], calls=2, now=at(900)) == [1]


@pytest.mark.parametrize(
    ("rows", "is_gone"), [([never(0)], False), ([row("billing", "Orders", 0, 1, 9)], True), ([], True)]
)
def test_an_answer_goes_with_the_first_commit(rows, is_gone):
    memory = SampleMemory(starts={KEY: answered()})
    assert forget_started(memory, [broker("broker-a", *rows)]) == ({KEY} if is_gone else set())


def test_an_answer_stays_while_its_broker_is_silent():
    assert forget_started(SampleMemory(starts={KEY: answered()}), [broker("broker-a", error="refused")]) == set()


def start(answers, rules, *, kind="normal", min_offset=0, broker_offset=9):
    memory = SampleMemory()

    async def use(admins):
        asked = [Unstarted(KEY, kind, min_offset, broker_offset)]
        return await ask_starts(admins, asked, {"billing": rules}, memory, at(0), 1.0)

    found, asked = ask(answers, use)
    assert memory.starts == found
    return found[KEY], asked


def test_the_broker_is_asked_as_a_starting_member_asks_it():
    answer, asked = start({14: offset_answer(0)}, LAST)
    assert asked == [(14, {"consumerGroup": "billing", "topic": "Orders", "queueId": "0"})]
    assert (answer.offset, answer.error) == (0, None)
    assert "memory" in answer.rule


@pytest.mark.parametrize(("rules", "offset"), [(FIRST, 3), (LAST, 9)])
def test_without_an_answer_the_members_rule_decides(rules, offset):
    answer, _ = start({14: NOT_FOUND}, rules, min_offset=3)
    assert (answer.offset, answer.error) == (offset, None)


def test_a_start_by_time_is_looked_up_by_its_moment():
    answer, asked = start({14: NOT_FOUND, 29: offset_answer(6)}, BY_TIME)
    assert (answer.offset, answer.error) == (6, None)
    moment = int(datetime(2026, 3, 1, 2, 0, tzinfo=UTC).timestamp() * 1000)
    assert asked[1] == (29, {"topic": "Orders", "queueId": "0", "timestamp": str(moment)})


def test_a_retry_topic_does_not_start_by_time():
    answer, asked = start({14: NOT_FOUND}, BY_TIME, kind="retry")
    assert (answer.offset, [code for code, _ in asked]) == (9, [14])


def test_an_empty_queue_needs_no_question():
    answer, asked = start({}, FIRST, broker_offset=0)
    assert (answer.offset, asked) == (0, [])


def test_without_a_member_s_word_the_start_is_unknown_with_the_reason():
    answer, _ = start({14: NOT_FOUND}, StartRules())
    assert answer.offset is None
    assert stored_words(answer.error) == "no member was present to report its ConsumeFromWhere"


def test_a_failure_is_the_answer_s_error():
    answer, _ = start({14: {"code": 16, "remark": "no matched policies"}}, LAST)
    assert answer.offset is None
    assert "NO_PERMISSION" in answer.error
