"""States as sentences: the rule, the place, and every number with its unit."""

import pytest

from consumers.models import State
from consumers.queries.sentences import evidence, queue_words, sentence, state_parts
from consumers.words.spans import age, rate


@pytest.mark.parametrize(
    ("state", "rule", "detail", "expected"),
    [
        (
            State.STALL,
            "blocked",
            {"still_seconds": 720.4, "lag_messages": 9120, "client_id": "10.0.0.7@3312", "owners": 1},
            "blocked · no commit for 12 min · lag 9,120 messages · owned by 10.0.0.7@3312",
        ),
        (
            State.STOP,
            "no_members",
            {"still_seconds": 4080, "lag_messages": 1, "without_members_seconds": 90},
            "no members · no commit for 1 h 8 min · lag 1 message · no member for 1 min 30 s",
        ),
        (
            State.WARN,
            "falling_behind",
            {"lag_messages": 52118, "consume_rate": 0.25, "time_lag_from_seconds": 60, "time_lag_to_seconds": 192},
            "falling behind · time lag rose from 1 min to 3 min 12 s · lag 52,118 messages · consumes 0.25 msg/s",
        ),
        (
            State.WARN,
            "falling_behind",
            {"time_lag_seconds": 197.0, "time_lag_from_seconds": 60, "time_lag_to_seconds": 192},
            "falling behind · time lag rose from 1 min to 3 min 17 s",
        ),
        (
            State.WARN,
            "falling_behind",
            {"time_lag_seconds": 30.0, "time_lag_from_seconds": 60, "time_lag_to_seconds": 192},
            "falling behind · time lag rose from 1 min to 3 min 12 s · time lag 30 s",
        ),
        (
            State.LOSS,
            "moved_to_oldest",
            {"lost_messages_at_least": 0, "lost_messages_at_most": 15, "from_offset": 40, "to_offset": 60},
            "moved to the oldest message · at least 0 messages lost · at most 15 messages lost"
            " · from offset 40 · to offset 60",
        ),
        (State.OK, "caught_up", {"lag_messages": 0}, "caught up"),
        (
            State.UNKNOWN,
            "not_read",
            {"seconds_since_read": 61, "reason": None},
            "not read · not read for 1 min 1 s",
        ),
        (
            State.WARN,
            "odd",
            {"wait_seconds": 61, "open_tasks": 3, "seen": None},
            "odd · open tasks: 3 · wait: 1 min 1 s",
        ),
    ],
)
def test_it_says_the_rule_and_each_number_that_is_known(state, rule, detail, expected):
    assert sentence(state_parts(state, rule, detail)) == expected


def test_it_says_the_numbers_in_the_same_order_however_they_were_kept():
    detail = {"client_id": "a", "lag_messages": 2, "still_seconds": 5}
    parts = ["no commit for 5 s", "lag 2 messages", "owned by a"]
    assert evidence(detail) == evidence(dict(reversed(detail.items()))) == parts


def test_it_names_the_queue_that_decided():
    place = queue_words("Stock", "broker-a", 3)
    assert state_parts(State.STALL, "blocked", {}, place=place) == ["blocked", "queue 3 of Stock on broker-a"]


@pytest.mark.parametrize("state", [State.OK, State.WARN])
def test_numbers_of_one_queue_stand_behind_its_name_whatever_the_state(state):
    detail = {"topic": "orders", "broker": "broker-a", "queue_id": 2, "lag_messages": 94, "consume_rate": 0.25}
    said = "queue 2 of orders on broker-a: lag 94 messages, consumes 0.25 msg/s"
    assert state_parts(state, "draining", detail)[1:] == [said]


def test_a_state_without_numbers_that_is_well_names_no_queue():
    detail = {"topic": "orders", "broker": "broker-a", "queue_id": 2, "queues": 8}
    assert state_parts(State.OK, "caught_up", detail) == ["caught up"]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (192, "3 min 12 s"),
        (599, "9 min 59 s"),
        (2460, "41 min"),
        (3600, "1 h"),
        (68400, "19 h"),
        (187200, "2 d 4 h"),
    ],
)
def test_it_says_an_age_in_two_units_at_most(seconds, expected):
    assert age(seconds) == expected


@pytest.mark.parametrize(
    ("per_second", "expected"), [(0.25, "0.25 msg/s"), (12.4, "12 msg/s"), (40000, "40,000 msg/s"), (0, "0 msg/s")]
)
def test_it_says_a_rate_with_the_digits_that_matter(per_second, expected):
    assert rate(per_second) == expected


def test_the_place_is_said_once():
    detail = {"topic": "Stock", "broker": "broker-a", "queue_id": 3, "queues": 8, "still_seconds": 720}
    parts = state_parts(State.STALL, "blocked", detail, place=queue_words("Stock", "broker-a", 3))
    assert parts == ["blocked", "queue 3 of Stock on broker-a: no commit for 12 min"]
