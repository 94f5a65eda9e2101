"""Every rule, and the order of the rules: numbers of a queue, the state they give, and why.

Each row changes the numbers of a queue that is behind and moving along; what it changes stands in it.
"""

import json
from typing import Any

import pytest

from consumers.pipeline.bucket import judge
from consumers.pipeline.durations import Durations
from consumers.pipeline.rules.order import ordered_rules
from consumers.vocabulary.states import UnknownReason
from tests.numbers_rows import DEFAULTS, REAL, TEXT, TRUTH, WHOLE, as_columns
from tests.pipeline_rows import PLACE, at, us

BEHIND: dict[str, tuple[Any, Any]] = {
    "kind": (TEXT, "normal"),
    "read_age_seconds": (REAL, 10.0),
    "known_age_seconds": (REAL, 10.0),
    "newest_age_seconds": (REAL, 10.0),
    "newest_reason": (TEXT, None),
    "newest_broker_offset": (WHOLE, 5000),
    "newest_min_offset": (WHOLE, 0),
    "readings_seen": (WHOLE, 12),
    "seen_seconds": (REAL, 165.0),
    "readings_of_topic": (WHOLE, 12),
    "topic_seconds": (REAL, 165.0),
    "last_us": (WHOLE, us(590)),
    "recreated_us": (WHOLE, None),
    "recreated_offset": (WHOLE, None),
    "consumer_offset": (WHOLE, 1000),
    "broker_offset": (WHOLE, 5000),
    "min_offset": (WHOLE, 0),
    "pull_offset": (WHOLE, None),
    "lag_messages": (WHOLE, 4000),
    "highest_consumer_offset": (WHOLE, 1000),
    "dropped_us": (WHOLE, None),
    "skipped_us": (WHOLE, None),
    "skipped_from": (WHOLE, None),
    "skipped_min": (WHOLE, None),
    "skipped_to": (WHOLE, None),
    "moves": (WHOLE, 11),
    "stood_us": (WHOLE, us(590)),
    "has_moved": (TRUTH, True),
    "still_seconds": (REAL, 0.0),
    "consume_rate": (REAL, 10.0),
    "produce_rate": (REAL, 12.0),
    "time_lag_seconds": (REAL, 400.0),
    "time_lag_kind": (TEXT, "interpolated"),
    "time_lag_error_seconds": (REAL, 20.0),
    "time_lag_at_most_seconds": (REAL, 420.0),
    "was_within_allowance": (TRUTH, False),
    "expires_in_seconds": (REAL, None),
    "expires_unconsumed_seconds": (REAL, None),
    "is_falling_behind": (TRUTH, False),
    "is_not_draining": (TRUTH, False),
    "drains_in_time": (TRUTH, False),
    "drain_seconds": (REAL, None),
    "trend_slope": (REAL, None),
    "trend_from_seconds": (REAL, None),
    "trend_to_seconds": (REAL, None),
    "trend_consume_rate": (REAL, 10.0),
    "trend_produce_rate": (REAL, 12.0),
}
COLUMNS = {
    **{name: (TEXT, PLACE[name]) for name in ("cluster", "group", "topic", "broker")},
    "queue_id": (WHOLE, 0),
    **BEHIND,
    **DEFAULTS,
}

STILL = {"moves": 0, "has_moved": False, "still_seconds": 240.0, "stood_us": us(350), "consume_rate": 0.0}
EMPTY = {"members": 0, "without_members_seconds": 120.0}
UNOWNED = {"members": 2, "owners_known": True, "unowned_seconds": 120.0}
OWNED = {"members": 2, "owners_known": True, "owner": "c1"}
RISING = {"is_falling_behind": True, "trend_from_seconds": 200.0, "trend_to_seconds": 390.0}
HIGH = {"is_not_draining": True, "time_lag_seconds": 1200.0, "time_lag_at_most_seconds": 1220.0}
DRAINING = {"drains_in_time": True, "drain_seconds": 400.0, "trend_consume_rate": 22.0}
OPEN = {"time_lag_kind": "at_least", "time_lag_at_most_seconds": None}
LOST = {"newest_reason": UnknownReason.OFFSET_LOST, "known_age_seconds": None, "lost_offset": 1000, "lost_us": us(300)}
BACK = {"highest_consumer_offset": 1500, "dropped_us": us(570)}
EXPIRED = {"min_offset": 1200}
SKIPPED = {"skipped_us": us(560), "skipped_from": 500, "skipped_min": 900, "skipped_to": 900}
FEW = {"readings_of_topic": 2, "topic_seconds": 15.0}
AWAY = {"is_away": True, "habit_limit_seconds": 800.0}
GHOST, OUTSIDE = "inactive", "progress_outside"
STANDING, LONG = "not_draining", "time_lag_unbounded"
POPPED = "popped_to_end"
REPLAYED = {"owner_changed_us": us(540), "in_flight_seen": 500}

TABLE = [
    ({}, "OK", "lagging", "moves, lag grows, no trend yet"),
    (DRAINING, "OK", "draining", "consumes more than is produced"),
    ({"read_age_seconds": None, "newest_age_seconds": None}, "UNKNOWN", "not_read", "its broker is silent"),
    ({"read_age_seconds": 60.0}, "UNKNOWN", "not_read", "silent for a minute"),
    ({"read_age_seconds": 45.0}, "OK", "lagging", "one missed reading changes nothing"),
    ({"readings_seen": 3}, "UNKNOWN", "too_few_readings", "three readings"),
    ({"seen_seconds": 30.0}, "UNKNOWN", "too_few_readings", "half a minute"),
    ({**FEW, "recreated_us": us(560)}, "RECREATED", "topic_recreated", "history restarts"),
    ({"recreated_us": us(440)}, "OK", "lagging", "created anew, then judged afresh"),
    (
        {"recreated_us": us(440), "known_age_seconds": None, "newest_reason": "consumer_ahead"},
        "UNKNOWN",
        "lag_unknown",
        "the offset of the topic before it outlives the few polls",
    ),
    (
        {"recreated_us": us(440), "known_age_seconds": None, "newest_reason": "never_committed"},
        "OK",
        "never_committed",
        "nothing was committed of the topic that there is now",
    ),
    ({"newest_reason": "never_committed", "known_age_seconds": None}, "OK", "never_committed", "no offset, so no lag"),
    (
        {"newest_reason": "topic_gone", "read_age_seconds": None},
        "OK",
        "no_such_queue",
        "an offset outlived its topic",
    ),
    ({"known_age_seconds": 60.0, "newest_reason": "ahead"}, "UNKNOWN", "lag_unknown", "ahead of the broker"),
    (BACK, "REWIND", "offset_went_back", "and has not regained"),
    ({**BACK, **REPLAYED}, "OK", "lagging", "a new owner began at what was committed: a replay"),
    ({**BACK, **REPLAYED, "in_flight_seen": 499}, "REWIND", "offset_went_back", "further than was in flight"),
    ({**BACK, **REPLAYED, "owner_changed_us": us(500)}, "REWIND", "offset_went_back", "long after the owner changed"),
    ({**BACK, "lag_messages": 0}, "REWIND", "offset_went_back", "also when it is level"),
    (EXPIRED, "LOSS", "messages_expired", "below the min offset"),
    (SKIPPED, "LOSS", "moved_to_oldest", "as the client does at its next pull"),
    ({**EXPIRED, **BACK}, "REWIND", "offset_went_back", "what happened first comes first"),
    ({"lag_messages": 0, "time_lag_seconds": 0.0, "time_lag_kind": "exact"}, "OK", "caught_up", "level"),
    ({**EXPIRED, "lag_messages": 0}, "LOSS", "messages_expired", "level by loss"),
    ({"time_lag_seconds": 60.0}, "OK", "within_threshold", "a minute behind"),
    ({"time_lag_seconds": 60.0, **OPEN}, "UNKNOWN", LONG, "at least has no upper end"),
    ({"time_lag_seconds": 60.0, **OPEN, "time_lag_at_most_seconds": 900.0}, "OK", "lagging", "known a while ago"),
    ({"time_lag_seconds": 60.0, **OPEN, "time_lag_at_most_seconds": 901.0}, "UNKNOWN", LONG, "known too long ago"),
    ({"time_lag_seconds": None, **OPEN, "time_lag_kind": "unknown"}, "UNKNOWN", LONG, "nothing tells how long"),
    ({**OPEN, **DRAINING}, "OK", "draining", "however long it is, it goes"),
    ({**OPEN, **HIGH}, "WARN", STANDING, "at least is enough to be too long"),
    ({"was_within_allowance": True}, "OK", "within_threshold_before", "a burst"),
    ({**STILL, **EMPTY}, "STOP", "no_members", "behind, still, nobody there"),
    ({**STILL, **EMPTY, "time_lag_seconds": 50.0}, "OK", "within_threshold", "not yet behind for long"),
    ({**STILL, **EMPTY, "still_seconds": 80.0}, "OK", "lagging", "stopped a moment ago"),
    ({**STILL, **EMPTY, "without_members_seconds": 60.0}, "STALL", "owner_unknown", "two answers too close"),
    ({**STILL, **EMPTY, "is_pulling": True}, "STALL", "owner_unknown", "a pulling group may be away"),
    ({**STILL, **EMPTY, "is_broadcasting": True}, "STALL", "owner_unknown", "each member for itself"),
    ({**STILL, **UNOWNED}, "STALL", "no_owner", "members, but not for this queue"),
    ({**STILL, **UNOWNED, "still_seconds": 100.0}, "STALL", "no_owner", "sooner than blocked"),
    (
        {**STILL, **UNOWNED, "unowned_seconds": 90.0, "still_seconds": 100.0},
        "OK",
        "lagging",
        "rebalances last",
    ),
    ({**STILL, **UNOWNED, "is_broadcasting": True}, "STALL", "owner_unknown", "every member owns all"),
    ({**STILL, **OWNED}, "STALL", "blocked", "its owner does not move"),
    ({**STILL, **OWNED, "still_seconds": 170.0}, "OK", "lagging", "not yet for long"),
    ({**STILL, **OWNED, "usual_gap_seconds": 100.0}, "OK", "lagging", "slow by habit"),
    ({**STILL, **OWNED, "kind": "retry"}, "OK", "lagging", "a retry topic is given five minutes"),
    ({**STILL, **UNOWNED, "kind": "retry"}, "OK", "lagging", "whoever owns it"),
    ({**STILL, **OWNED, "kind": "retry", "still_seconds": 300.0}, "STALL", "blocked", "and no more"),
    ({**STILL}, "STALL", "owner_unknown", "owners are not sampled"),
    ({"moves": 1, "previous_state": "STALL"}, "STALL", "owner_unknown", "one move does not end it"),
    ({"moves": 2, "previous_state": "STALL"}, "OK", "lagging", "two moves do"),
    ({"moves": 1, "previous_state": "STOP"}, "OK", "lagging", "a stopped group that is back"),
    (RISING, "WARN", "falling_behind", "the time lag rises"),
    ({**RISING, **HIGH}, "WARN", "falling_behind", "it rises, and is high"),
    ({**RISING, **DRAINING}, "WARN", "falling_behind", "held until it has failed for long"),
    (HIGH, "WARN", STANDING, "high for the whole trend"),
    ({**HIGH, **DRAINING}, "WARN", STANDING, "held, too"),
    ({**HIGH, **STILL, **OWNED}, "STALL", "blocked", "a better reason comes first"),
    ({**HIGH, "was_within_allowance": True}, "OK", "within_threshold_before", "it was level a moment ago"),
    (LOST, "LOSS", "offset_lost", "there was an offset"),
    ({**LOST, "readings_seen": 1}, "LOSS", "offset_lost", "one reading is enough"),
    ({**LOST, "read_age_seconds": 60.0, "newest_age_seconds": 60.0}, "UNKNOWN", "not_read", "lost on a silent broker"),
    ({**RISING, **STILL, **EMPTY}, "STOP", "no_members", "why it rises"),
    ({**STILL, **EMPTY, "is_ghost": True}, "OK", GHOST, "nobody came back"),
    ({**EXPIRED, **EMPTY, "is_ghost": True}, "OK", GHOST, "nobody misses what expires"),
    ({"read_age_seconds": 60.0, "is_ghost": True}, "UNKNOWN", "not_read", "a ghost on a silent broker"),
    ({**STILL, **EMPTY, "outside_store": "RedisStore"}, "UNKNOWN", OUTSIDE, "progress is kept outside"),
    ({"lag_messages": 0, "outside_store": "RedisStore"}, "UNKNOWN", OUTSIDE, "a level offset says nothing either"),
    ({**STILL, **OWNED, "is_paused": True}, "OK", "paused", "paused"),
    ({**STILL, **EMPTY, "is_paused": True}, "OK", "paused", "paused, and its members are gone"),
    ({**EXPIRED, **STILL, "is_paused": True}, "LOSS", "messages_expired", "paused for too long"),
    ({**RISING, "is_paused": True}, "WARN", "falling_behind", "it consumes, whatever the configuration says"),
    ({**STILL, **EMPTY, **AWAY}, "OK", "offline_by_habit", "a job that runs at night"),
    ({**STILL, **EMPTY, **AWAY, "time_lag_seconds": 801.0}, "STOP", "no_members", "it is overdue"),
    ({**STILL, **EMPTY, **AWAY, "habit_limit_seconds": None}, "STOP", "no_members", "how long it waits is not known"),
    ({**STILL, **EMPTY, **AWAY, "time_lag_seconds": None}, "STOP", "no_members", "how long it has waited is not known"),
    (
        {**STILL, **EMPTY, **AWAY, "expires_in_seconds": 3600.0},
        "STOP",
        "no_members",
        "its messages expire within a day",
    ),
    ({**STILL, **EMPTY, **AWAY, "expires_in_seconds": 90000.0}, "OK", "offline_by_habit", "they do not"),
    ({**EXPIRED, **EMPTY, **AWAY}, "LOSS", "messages_expired", "its messages expired before its time"),
    ({**STILL, **EMPTY, "has_unlisted_members": True}, "STALL", "owner_unknown", "members at a proxy stand"),
    ({"lag_messages": 0, "is_popping": True}, "OK", POPPED, "all popped, not all done"),
    ({**STILL, **UNOWNED, "is_popping": True}, "STALL", "owner_unknown", "members that pop own nothing"),
    ({"is_popping": True}, "OK", "lagging", "not all popped"),
    ({"read_age_seconds": 60.0, "is_broadcasting": True}, "UNKNOWN", "not_reported", "every member left"),
]


@pytest.fixture(scope="module")
def judged():
    rows = [{**changed, "queue_id": number} for number, (changed, *_) in enumerate(TABLE)]
    return judge(as_columns(COLUMNS, rows), Durations()).to_pylist()


@pytest.mark.parametrize("number", range(len(TABLE)), ids=lambda number: TABLE[number][3])
def test_it_judges(number, judged):
    _, state, rule, _ = TABLE[number]
    assert (judged[number]["state"], judged[number]["rule"]) == (state, rule)


def test_every_rule_decides_at_least_one_row():
    assert {rule.code for rule in ordered_rules(Durations())} == {rule for _, _, rule, _ in TABLE}


def row_of(judged, sentence):
    return judged[next(number for number, row in enumerate(TABLE) if row[3] == sentence)]


def test_still_queues_began_with_their_last_move(judged):
    assert row_of(judged, "its owner does not move")["since"] == at(350)


def test_a_state_without_evidence_counts_from_when_it_is_judged(judged):
    assert row_of(judged, "the time lag rises")["since"] is None


def test_a_detail_leaves_out_what_is_not_known(judged):
    assert row_of(judged, "silent for a minute")["detail"] == '{"seconds_since_read":60.0}'


@pytest.mark.parametrize(
    ("sentence", "owner"),
    [("owners are not sampled", "not_sampled"), ("members at a proxy stand", "unlisted"),
     ("members that pop own nothing", "popping")],
)  # fmt: skip
def test_a_queue_whose_owner_is_not_known_says_why(judged, sentence, owner):
    assert f'"owner":"{owner}"' in row_of(judged, sentence)["detail"]


def test_the_error_of_a_client_stands_for_its_owner():
    rows = [{**STILL, "members": 2, "owners_error": "c1 is not online"}]
    [judged] = judge(as_columns(COLUMNS, rows), Durations()).to_pylist()
    assert json.loads(judged["detail"])["owner_error"] == "c1 is not online"
    assert "owner" not in json.loads(judged["detail"])


def test_too_few_readings_are_provisional(judged):
    assert row_of(judged, "three readings")["provisional"]
    assert not row_of(judged, "level")["provisional"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [("its messages expire within a day", '"expires_in_seconds":3600.0'), ("why it rises", '"still_seconds":240.0')],
)
def test_a_standing_queue_says_when_it_loses_messages_where_that_is_known(judged, sentence, expected):
    detail = row_of(judged, sentence)["detail"]
    assert expected in detail
    assert ("expires_in_seconds" in detail) is ("expires" in expected)
