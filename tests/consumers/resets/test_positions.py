"""Where a group stood at a moment: the newest reading that says so, and what is said where none does."""

from datetime import timedelta

import pytest

from consumers.lake.retention import compact
from consumers.lake.store import Lake
from consumers.resets.past_offsets import looked_back, positions_at, was_read
from consumers.resets.target_values import QueueKey
from consumers.vocabulary.states import UnknownReason
from consumers.words.reasons import reason_words, stored_words
from tests.pipeline_rows import at, put, rows

QUEUE = QueueKey("Orders", "broker-a", 0)
UNREAD = {"unknown_reason": UnknownReason.NEVER_COMMITTED}


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


def position(lake, seconds):
    return positions_at(lake, "prod", "billing", at(seconds)).get(QUEUE)


def offset(lake, seconds):
    found = position(lake, seconds)
    return found.offset, found.taken_at


@pytest.mark.parametrize(
    ("seconds", "stood", "read_at"), [(0, 10, 0), (14, 10, 0), (15, 20, 15), (29.999999, 20, 15), (600, 30, 30)]
)
@pytest.mark.parametrize("compacted", [False, True], ids=["in_parts", "compacted"])
def test_it_is_the_newest_reading_up_to_the_moment(lake, seconds, stood, read_at, compacted):
    put(lake, "readings", rows([(10, 99), (20, 99), (30, 99)]))
    if compacted:
        compact(lake, at(7200), timedelta(0))
    assert offset(lake, seconds) == (stood, at(read_at))


def test_it_looks_into_the_hour_before(lake):
    put(lake, "readings", rows([(10, 99)], start=3590))
    compact(lake, at(7200), timedelta(0))
    put(lake, "readings", rows([(20, 99)], start=7195))
    assert offset(lake, 3605) == (10, at(3590))
    assert offset(lake, 7201) == (20, at(7195))


def test_a_silent_broker_leaves_its_last_position(lake):
    put(lake, "readings", rows([(10, 99), (20, 99)]) + rows([(7, 9)] * 30, broker="broker-b"))
    assert offset(lake, 400) == (20, at(15))


def test_a_reading_from_long_before_says_nothing(lake):
    put(lake, "readings", rows([(10, 99)]))
    assert position(lake, 900).offset == 10
    assert position(lake, 901) is None


def test_before_the_first_reading_there_is_nothing(lake):
    put(lake, "readings", rows([(10, 99)], start=60))
    assert position(lake, 59) is None


def test_what_was_lost_afterwards_is_found(lake):
    put(lake, "readings", rows([(10, 99)]) + rows([(None, 99)] * 4, start=15, **UNREAD) + rows([(3, 99)], start=75))
    assert offset(lake, 14) == (10, at(0))
    assert offset(lake, 80) == (3, at(75))


def test_at_a_moment_after_the_loss_there_is_no_position_and_the_last_one_is_named(lake):
    put(lake, "readings", rows([(10, 99)]) + rows([(None, 99)], start=15, **UNREAD))
    found = position(lake, 20)
    assert found.offset is None
    assert "it was 10 until 2026-03-01 02:00:00 UTC" in stored_words(found.reason)


@pytest.mark.parametrize("reason", [UnknownReason.NEVER_COMMITTED, UnknownReason.TOPIC_GONE])
def test_a_queue_without_a_commit_has_the_reason(lake, reason):
    put(lake, "readings", rows([(None, 99)], unknown_reason=reason))
    found = position(lake, 5)
    assert found.offset is None
    assert stored_words(found.reason) == f"{reason_words(reason)}."


def test_a_slave_that_was_behind_denies_nothing(lake):
    put(lake, "readings", rows([(10, 99)]) + rows([(None, None)], start=15, unknown_reason=UnknownReason.SLAVE_BEHIND))
    assert offset(lake, 20) == (10, at(0))


def test_offset_zero_is_a_position(lake):
    put(lake, "readings", rows([(0, 0)]))
    assert offset(lake, 5) == (0, at(0))


def test_other_groups_and_clusters_do_not_count(lake):
    put(lake, "readings", rows([(1, 99)], group="shipping") + rows([(2, 99)], cluster="test"))
    assert positions_at(lake, "prod", "billing", at(5)) == {}


def test_it_tells_whether_anything_was_read_then(lake):
    put(lake, "readings", rows([(1, 99)], group="shipping", start=1000))
    assert [was_read(lake, "prod", at(seconds)) for seconds in (999, 1000, 1900, 1901)] == [False, True, True, False]
    assert not was_read(lake, "test", at(1000))


@pytest.mark.parametrize(("poll_seconds", "minutes"), [(15, 15), (300, 15), (600, 30)])
def test_it_looks_back_three_polls_at_least(poll_seconds, minutes):
    assert looked_back(poll_seconds) == timedelta(minutes=minutes)
