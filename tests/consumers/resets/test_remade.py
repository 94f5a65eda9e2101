"""Queues whose broker offset went back since: their offsets of before name other messages."""

from datetime import timedelta

import pytest

from consumers.lake.knot_days import settle
from consumers.lake.retention import compact
from consumers.lake.schemas import NO_TOPIC
from consumers.lake.store import Lake
from consumers.resets.past_offsets import Position, remade_since
from consumers.resets.target_values import QueueKey
from consumers.words.reasons import stored_words
from tests.pipeline_rows import at, put

QUEUE = QueueKey("Orders", "broker-a", 0)
HOUR = 3600


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


def knots(*seen, **fields):
    place = {"cluster": "prod", "topic": "Orders", "broker": "broker-a", "queue_id": 0, **fields}
    return [{**place, "at": at(seconds), "broker_offset": offset} for seconds, offset in seen]


def remade(lake, *, since=0, now=2 * HOUR, broker_offset=100):
    stood = {QUEUE: Position("normal", at(since), 40, broker_offset, None)}
    return remade_since(lake, "prod", stood, at(since), at(now))


@pytest.mark.parametrize(
    ("seen", "is_remade"),
    [
        ([(60, 100), (120, 100), (180, 150)], False),
        ([(60, 100), (120, 0)], True),
        ([(60, 150), (120, 149)], True),
        # It went back between the reading and the first knot.
        ([(60, 99)], True),
        # It went back, and is far beyond by now.
        ([(60, 3), (120, 5000)], True),
    ],
)
def test_a_broker_offset_that_went_back_is_told(lake, seen, is_remade):
    put(lake, "knots", knots(*seen), time="at")
    assert (QUEUE in remade(lake).why) is is_remade


def test_what_went_back_before_the_moment_does_not_matter(lake):
    put(lake, "knots", knots((60, 900), (180, 120)), time="at")
    assert remade(lake, since=120).why == {}


def test_a_topic_that_was_gone_is_told_of_whatever_its_offsets_are(lake):
    put(lake, "knots", knots((60, 150), (120, NO_TOPIC), (120, 900)), time="at")
    assert "deleted and re-created before 2026-03-01 02:02:00 UTC" in stored_words(remade(lake).why[QUEUE])


def test_the_sentence_names_both_offsets_and_the_time(lake):
    put(lake, "knots", knots((60, 150), (120, 7), (180, 3)), time="at")
    assert "fell from 150 to 7 before 2026-03-01 02:02:00 UTC" in stored_words(remade(lake).why[QUEUE])


def test_other_queues_and_topics_do_not_count(lake):
    others = knots((60, 5), queue_id=1) + knots((61, 5), broker="broker-b") + knots((62, 5), topic="Other")
    put(lake, "knots", knots((50, 110)) + others, time="at")
    assert remade(lake).why == {}


def test_what_a_compaction_and_a_settled_day_keep_is_enough(lake):
    every_minute = [(60 * minute, 100 + minute) for minute in range(1, 90)]
    fell = [(5402, 191), (5405, 0), (5408, 400)]
    put(lake, "knots", knots(*every_minute, *fell), time="at")
    compact(lake, at(6 * HOUR), timedelta(0))
    assert QUEUE in remade(lake).why
    assert settle(lake, at(60 * HOUR)) == 1
    assert QUEUE in remade(lake, now=46 * HOUR).why


@pytest.mark.parametrize(("now", "known"), [(60 + 70 * 60, True), (61 + 70 * 60, False)])
def test_without_knots_until_now_nothing_is_known(lake, now, known):
    put(lake, "knots", knots((60, 100)), time="at")
    assert remade(lake, now=now).is_known(at(now)) is known


def test_without_any_knot_nothing_is_known(lake):
    found = remade(lake)
    assert (found.why, found.known_until, found.is_known(at(60))) == ({}, None, False)


def test_a_position_without_a_broker_offset_is_compared_with_nothing(lake):
    put(lake, "knots", knots((60, 99)), time="at")
    assert remade(lake, broker_offset=None).why == {}


def test_without_a_broker_offset_then_what_came_later_is_compared(lake):
    put(lake, "knots", knots((60, 99), (120, 7)), time="at")
    assert "fell from 99 to 7 before" in stored_words(remade(lake, broker_offset=None).why[QUEUE])


def test_knots_of_other_topics_do_not_tell_until_when_it_is_known(lake):
    put(lake, "knots", knots((60, 100)) + knots((7000, 5), topic="Other"), time="at")
    assert remade(lake).known_until == at(60)
