from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from consumers.stores.start import BrokerAnswer, start_time, would_start
from consumers.words.reasons import stored_words

STARTED = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
NOT_FOUND = BrokerAnswer()
FIRST, LAST, TIMESTAMP = "CONSUME_FROM_FIRST_OFFSET", "CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_TIMESTAMP"


@pytest.mark.parametrize(
    ("kind", "where", "min_offset", "broker_offset", "answer", "offset"),
    [
        # The first message is in the broker's memory: 0, whatever the members are set to.
        ("normal", LAST, 0, 500, BrokerAnswer(0), 0),
        ("normal", FIRST, 0, 500, BrokerAnswer(0), 0),
        ("normal", TIMESTAMP, 0, 500, BrokerAnswer(0), 0),
        ("normal", None, 0, 500, BrokerAnswer(0), 0),
        # A committed offset always wins.
        ("normal", LAST, 0, 500, BrokerAnswer(123), 123),
        # An empty queue leaves no choice.
        ("normal", LAST, 0, 0, None, 0),
        ("normal", None, None, 0, None, 0),
        # Nothing in memory: the members' setting decides.
        ("normal", LAST, 0, 500, NOT_FOUND, 500),
        ("retry", LAST, 0, 500, NOT_FOUND, 0),
        ("retry", LAST, 7, 500, NOT_FOUND, 7),
        ("normal", FIRST, 0, 500, NOT_FOUND, 0),
        ("normal", FIRST, 40, 500, NOT_FOUND, 40),
        ("retry", FIRST, 0, 500, NOT_FOUND, 0),
        ("retry", TIMESTAMP, 0, 500, NOT_FOUND, 500),
        ("normal", "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST", 0, 500, NOT_FOUND, 500),
        ("normal", "CONSUME_FROM_MIN_OFFSET", 0, 500, NOT_FOUND, 500),
        ("normal", "CONSUME_FROM_MAX_OFFSET", 0, 500, NOT_FOUND, 500),
        # The first message is gone, so the broker could only answer "not found".
        ("normal", LAST, 40, 500, None, 500),
        ("normal", FIRST, 40, 500, None, 40),
    ],
)
def test_a_member_starts_where_its_client_would(kind, where, min_offset, broker_offset, answer, offset):
    start = would_start(kind, where, "20260301113000", STARTED, min_offset, broker_offset, answer)

    assert (start.offset, start.reason) == (offset, None)
    assert start.rule


@pytest.mark.parametrize(
    ("kind", "where", "min_offset", "broker_offset", "answer", "reason"),
    [
        ("normal", LAST, 0, 500, None, "the broker was not asked"),
        ("normal", LAST, None, 500, None, "the broker was not asked"),
        ("normal", LAST, 0, None, NOT_FOUND, "the broker offset was not read"),
        ("normal", FIRST, None, 500, NOT_FOUND, "the min offset was not read"),
        ("retry", LAST, None, 500, NOT_FOUND, "the min offset was not read"),
        ("normal", None, 0, 500, NOT_FOUND, "no member was present"),
        ("normal", "CONSUME_FROM_MOON", 0, 500, NOT_FOUND, "'CONSUME_FROM_MOON'"),
        ("normal", TIMESTAMP, 0, 500, NOT_FOUND, "the broker was not asked for the offset of that time"),
        ("normal", TIMESTAMP, 40, 500, None, "the broker was not asked for the offset of that time"),
        ("dlq", FIRST, 0, 500, NOT_FOUND, "does not consume its own dead-letter messages"),
    ],
)
def test_what_was_not_read_leaves_the_start_unknown(kind, where, min_offset, broker_offset, answer, reason):
    start = would_start(kind, where, "20260301113000", STARTED, min_offset, broker_offset, answer)

    assert start.offset is None
    assert reason in (stored_words(start.reason) or "")


def test_a_timestamp_group_starts_at_the_first_message_of_its_time():
    start = would_start("normal", TIMESTAMP, "20260301193000", STARTED, 0, 500, BrokerAnswer(offset_at_time=321))

    assert (start.offset, stored_words(start.rule)) == (
        321,
        "timestamp: the first message from 2026-03-01 11:30:00 UTC on",
    )


@pytest.mark.parametrize("text", ["20260101000000", "20260301112300", "20260301112859"])
def test_a_time_that_was_set_by_hand_has_no_known_zone(text):
    start = would_start("normal", TIMESTAMP, text, STARTED, 0, 500, BrokerAnswer(offset_at_time=321))

    assert start.offset is None
    assert stored_words(start.reason) == f"consumeTimestamp {text!r} is in the client's own time zone, which is unknown"


def test_a_timestamp_group_whose_time_was_never_told_has_no_known_start():
    start = would_start("normal", TIMESTAMP, None, STARTED, 0, 500, BrokerAnswer(offset_at_time=321))

    assert (start.offset, stored_words(start.reason)) == (None, "no member has reported its consumeTimestamp")


@pytest.mark.parametrize("text", ["", "yesterday", "2026030111300", "20261301113000"])
def test_a_time_that_is_none_is_not_known(text):
    assert start_time(text, STARTED) is None


def test_without_the_clients_start_the_zone_is_not_known():
    assert start_time("20260301113000", None) is None


@given(
    started_at=st.integers(10**9, 4 * 10**9).map(lambda seconds: datetime.fromtimestamp(seconds + 0.5, UTC)),
    made_before=st.integers(0, 59),
    zone_quarters=st.integers(-12 * 4, 14 * 4),
)
def test_the_default_time_is_half_an_hour_before_the_start_in_any_zone(started_at, made_before, zone_quarters):
    made_at = started_at - timedelta(seconds=made_before)
    written = made_at - timedelta(minutes=30) + timedelta(minutes=15 * zone_quarters)

    moment = start_time(f"{written:%Y%m%d%H%M%S}", started_at)

    assert moment == (made_at - timedelta(minutes=30)).replace(microsecond=0)
