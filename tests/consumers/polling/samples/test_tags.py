"""How many of the next messages match: which queues are looked at, and what counts as a match."""

import json

import pytest
from hypothesis import given, strategies as st

from consumers.polling.samples.first_stored import (
    Filtered,
    ask_tags,
    counted,
    java_hash,
    note_filters,
    plan_tags,
    tag_filters,
    tag_hashes,
)
from consumers.polling.samples.reading import SampleMemory, TagCount
from consumers.rocketmq.messages.stored import QueueEntries, QueueEntry
from tests.consumers.polling.peer import ask
from tests.readings import at, broker, group_members, row

TAG_A, TAG_B = 2598919, 2598920
FILTERS = {"billing": {"Orders": "TagA"}}
COUNT = TagCount("TagA", 64, 1, at(0))


@pytest.mark.parametrize(
    ("text", "value"),
    [("", 0), ("TagA", TAG_A), ("TagB", TAG_B), ("zzzzzz", -685785664), ("支付", 823177), ("😀", 1772899)],
)
def test_hashes_are_java_s(text, value):
    assert java_hash(text) == value


@given(st.text())
def test_every_hash_has_32_bits_with_a_sign(text):
    assert -(2**31) <= java_hash(text) < 2**31


def test_an_expression_is_a_choice_of_tags():
    assert tag_hashes(" TagA ||TagB|| ") == {TAG_A, TAG_B}


@pytest.mark.parametrize(
    ("expression", "kind", "found"),
    [
        ("TagA", "TAG", {"Orders": "TagA"}),
        ("TagA", None, {"Orders": "TagA"}),
        ("*", "TAG", {}),
        ("", "TAG", {}),
        (None, "TAG", {}),
        ("a > 5", "SQL92", {}),
    ],
)
def test_filters_are_tag_expressions_that_leave_something_out(expression, kind, found):
    assert tag_filters([{"topic": "Orders", "expression": expression, "expression_type": kind}]) == found


def test_a_group_that_takes_everything_again_is_no_longer_filtered():
    memory = SampleMemory(filters={"billing": {"Orders": "TagA"}, "audit": {"Orders": "TagA"}})
    note_filters(memory, [group_members("billing", "one"), group_members("audit")])
    assert memory.filters == {"audit": {"Orders": "TagA"}}


def test_the_most_lagging_queue_of_a_topic_is_looked_at():
    rows = [row("billing", "Orders", queue_id, 9 - lag, 9) for queue_id, lag in enumerate([5, 7, 6])]
    rows.append(row("billing", "Stock", 0, 0, 99))
    asked, gone = plan_tags(SampleMemory(filters=FILTERS), [broker("broker-a", *rows)], 10, at(0))
    assert asked == [Filtered("billing", "Orders", "TagA", "broker-a", 1, 2)]
    assert gone == set()


@pytest.mark.parametrize(("seconds", "is_asked"), [(59, False), (60, True)])
def test_a_count_holds_for_a_minute(seconds, is_asked):
    memory = SampleMemory(filters=FILTERS, tags={("billing", "Orders"): COUNT})
    asked, gone = plan_tags(memory, [broker("broker-a", row("billing", "Orders", 0, 4, 9))], 10, at(seconds))
    assert (bool(asked), gone) == (is_asked, set())


@pytest.mark.parametrize(
    ("filters", "parts", "is_gone"),
    [
        (FILTERS, [broker("broker-a", row("billing", "Orders", 0, 9, 9))], True),
        ({"billing": {"Orders": "TagB"}}, [broker("broker-a", row("billing", "Orders", 0, 4, 9))], True),
        ({}, [broker("broker-a", row("billing", "Orders", 0, 4, 9))], True),
        (FILTERS, [broker("broker-a", row("billing", "Orders", 0, 9, 9)), broker("broker-b", error="refused")], False),
    ],
)
def test_a_count_goes_with_the_lag_or_the_expression_but_not_while_a_broker_is_silent(filters, parts, is_gone):
    memory = SampleMemory(filters=filters, tags={("billing", "Orders"): COUNT})
    _, gone = plan_tags(memory, parts, 10, at(0))
    assert gone == ({("billing", "Orders")} if is_gone else set())


def test_topics_that_were_never_looked_at_come_first_within_the_budget():
    memory = SampleMemory(filters={"billing": {"Orders": "TagA", "Stock": "TagA"}})
    memory.tags["billing", "Orders"] = COUNT
    rows = [row("billing", "Orders", 0, 4, 9), row("billing", "Stock", 0, 4, 9)]
    asked, _ = plan_tags(memory, [broker("broker-a", *rows)], 1, at(100))
    assert [one.topic for one in asked] == ["Stock"]


@pytest.mark.parametrize(
    ("codes", "looked_at", "matching"), [([TAG_A, TAG_B, 0, TAG_A], 4, 2), ([0], 1, 0), ([TAG_A], 1, 1)]
)
def test_a_match_is_an_entry_with_the_hash_of_a_tag(codes, looked_at, matching):
    entries = tuple(QueueEntry(0, 0, code) for code in codes)
    count = counted("TagA", QueueEntries(entries, 0, 9), at(0))
    assert (count.looked_at, count.matching) == (looked_at, matching)


@pytest.mark.parametrize("codes", [[], [TAG_A, None]])
def test_what_cannot_be_seen_whole_is_not_counted(codes):
    entries = tuple(QueueEntry(0, 0, code) for code in codes)
    assert counted("TagA", QueueEntries(entries, 0, 9), at(0)) is None


def counts(answer):
    memory = SampleMemory(filters=FILTERS)

    async def use(admins):
        return await ask_tags(admins, [Filtered("billing", "Orders", "TagA", "broker-a", 1, 2)], memory, at(0), 1.0)

    answers, asked = ask({321: answer}, use)
    assert memory.tags == answers
    return answers, asked


def test_64_entries_from_the_consumer_offset_are_looked_at():
    entry = {"physicOffset": 1, "physicSize": 2, "tagsCode": TAG_A}
    body = json.dumps({"minQueueIndex": 0, "maxQueueIndex": 9, "queueData": [entry]}).encode()
    answers, asked = counts({"body": body})
    assert answers == {("billing", "Orders"): TagCount("TagA", 1, 1, at(0))}
    assert asked == [(321, {"topic": "Orders", "queueId": "1", "index": "2", "count": "64"})]


def test_a_look_that_fails_leaves_no_count():
    assert counts({"code": 1})[0] == {}
