"""Every rule, and the order of the rules: numbers of a queue, the state they give, and why.

Each row changes the numbers of a queue that is behind and moving along; what it changes stands in it.
"""

from typing import Any

import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.judge import judge
from consumers.pipeline.rules.order import ordered_rules
from consumers.polling.reading import NOT_REPORTED, OFFSET_LOST
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
    "readings_in_window": (WHOLE, 12),
    "window_seconds": (REAL, 165.0),
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
LOST = {"newest_reason": OFFSET_LOST, "known_age_seconds": None, "lost_offset": 1000, "lost_us": us(300)}
BACK = {"highest_consumer_offset": 1500, "dropped_us": us(570)}
EXPIRED = {"min_offset": 1200}
SKIPPED = {"skipped_us": us(560), "skipped_from": 500, "skipped_min": 900, "skipped_to": 900}
FEW = {"readings_in_window": 2, "window_seconds": 15.0}
AWAY = {"is_away": True, "habit_limit_seconds": 800.0}
GHOST, OUTSIDE = "ghost: nobody consumes here any more", "its progress is kept outside the brokers"
STANDING, LONG = "behind, not draining", "behind, for how long is not known"
POPPED = "popped to the end; acks are not in the offset"
REPLAYED = {"owner_changed_us": us(540), "in_flight_seen": 500}

TABLE = [
    ({}, "OK", "behind", "moves, lag grows, no trend yet"),
    (DRAINING, "OK", "behind, draining", "consumes more than is produced"),
    ({"read_age_seconds": None, "newest_age_seconds": None}, "UNKNOWN", "not read", "its broker is silent"),
    ({"read_age_seconds": 60.0}, "UNKNOWN", "not read", "silent for a minute"),
    ({"read_age_seconds": 45.0}, "OK", "behind", "one missed reading changes nothing"),
    ({"readings_seen": 3}, "UNKNOWN", "too few readings to judge", "three readings"),
    ({"seen_seconds": 30.0}, "UNKNOWN", "too few readings to judge", "half a minute"),
    ({**FEW, "recreated_us": us(560)}, "RECREATED", "topic created anew", "history restarts"),
    ({"recreated_us": us(440)}, "OK", "behind", "created anew, then judged afresh"),
    ({"newest_reason": "never committed", "known_age_seconds": None}, "OK", "never committed", "no offset, so no lag"),
    (
        {"newest_reason": "the broker has no such topic", "read_age_seconds": None},
        "OK",
        "the broker has no such queue",
        "an offset outlived its topic",
    ),
    ({"known_age_seconds": 60.0, "newest_reason": "ahead"}, "UNKNOWN", "lag not known", "ahead of the broker"),
    (BACK, "REWIND", "offset went back", "and has not regained"),
    ({**BACK, **REPLAYED}, "OK", "behind", "a new owner began at what was committed: a replay"),
    ({**BACK, **REPLAYED, "in_flight_seen": 499}, "REWIND", "offset went back", "further than was in flight"),
    ({**BACK, **REPLAYED, "owner_changed_us": us(500)}, "REWIND", "offset went back", "long after the owner changed"),
    ({**BACK, "lag_messages": 0}, "REWIND", "offset went back", "also when it is level"),
    (EXPIRED, "LOSS", "unread messages have expired", "below the min offset"),
    (SKIPPED, "LOSS", "moved up to the oldest message", "as the client does at its next pull"),
    ({**EXPIRED, **BACK}, "REWIND", "offset went back", "what happened first comes first"),
    ({"lag_messages": 0, "time_lag_seconds": 0.0, "time_lag_kind": "exact"}, "OK", "caught up", "level"),
    ({**EXPIRED, "lag_messages": 0}, "LOSS", "unread messages have expired", "level by loss"),
    ({"time_lag_seconds": 60.0}, "OK", "within the allowance", "a minute behind"),
    ({"time_lag_seconds": 60.0, **OPEN}, "UNKNOWN", LONG, "at least has no upper end"),
    ({"time_lag_seconds": 60.0, **OPEN, "time_lag_at_most_seconds": 900.0}, "OK", "behind", "known a while ago"),
    ({"time_lag_seconds": 60.0, **OPEN, "time_lag_at_most_seconds": 901.0}, "UNKNOWN", LONG, "known too long ago"),
    ({"time_lag_seconds": None, **OPEN, "time_lag_kind": "unknown"}, "UNKNOWN", LONG, "nothing tells how long"),
    ({**OPEN, **DRAINING}, "OK", "behind, draining", "however long it is, it goes"),
    ({**OPEN, **HIGH}, "WARN", STANDING, "at least is enough to be too long"),
    ({"was_within_allowance": True}, "OK", "within the allowance a moment ago", "a burst"),
    ({**STILL, **EMPTY}, "STOP", "no members", "behind, still, nobody there"),
    ({**STILL, **EMPTY, "time_lag_seconds": 50.0}, "OK", "within the allowance", "not yet behind for long"),
    ({**STILL, **EMPTY, "still_seconds": 80.0}, "OK", "behind", "stopped a moment ago"),
    ({**STILL, **EMPTY, "without_members_seconds": 60.0}, "STALL", "still, owner unread", "two answers too close"),
    ({**STILL, **EMPTY, "is_pulling": True}, "STALL", "still, owner unread", "a pulling group may be away"),
    ({**STILL, **EMPTY, "is_broadcasting": True}, "STALL", "still, owner unread", "each member for itself"),
    ({**STILL, **UNOWNED}, "STALL", "nobody owns the queue", "members, but not for this queue"),
    ({**STILL, **UNOWNED, "still_seconds": 100.0}, "STALL", "nobody owns the queue", "sooner than blocked"),
    (
        {**STILL, **UNOWNED, "unowned_seconds": 90.0, "still_seconds": 100.0},
        "OK",
        "behind",
        "rebalances last",
    ),
    ({**STILL, **UNOWNED, "is_broadcasting": True}, "STALL", "still, owner unread", "every member owns all"),
    ({**STILL, **OWNED}, "STALL", "blocked", "its owner does not move"),
    ({**STILL, **OWNED, "still_seconds": 170.0}, "OK", "behind", "not yet for long"),
    ({**STILL, **OWNED, "usual_gap_seconds": 100.0}, "OK", "behind", "slow by habit"),
    ({**STILL, **OWNED, "kind": "retry"}, "OK", "behind", "a retry topic is given five minutes"),
    ({**STILL, **UNOWNED, "kind": "retry"}, "OK", "behind", "whoever owns it"),
    ({**STILL, **OWNED, "kind": "retry", "still_seconds": 300.0}, "STALL", "blocked", "and no more"),
    ({**STILL}, "STALL", "still, owner unread", "owners are not sampled"),
    ({"moves": 1, "previous_state": "STALL"}, "STALL", "still, owner unread", "one move does not end it"),
    ({"moves": 2, "previous_state": "STALL"}, "OK", "behind", "two moves do"),
    ({"moves": 1, "previous_state": "STOP"}, "OK", "behind", "a stopped group that is back"),
    (RISING, "WARN", "falling behind", "the time lag rises"),
    ({**RISING, **HIGH}, "WARN", "falling behind", "it rises, and is high"),
    ({**RISING, **DRAINING}, "WARN", "falling behind", "held until it has failed for long"),
    (HIGH, "WARN", STANDING, "high for the whole trend"),
    ({**HIGH, **DRAINING}, "WARN", STANDING, "held, too"),
    ({**HIGH, **STILL, **OWNED}, "STALL", "blocked", "a better reason comes first"),
    ({**HIGH, "was_within_allowance": True}, "OK", "within the allowance a moment ago", "it was level a moment ago"),
    (LOST, "LOSS", "offset lost", "there was an offset"),
    ({**LOST, "readings_seen": 1}, "LOSS", "offset lost", "one reading is enough"),
    ({**LOST, "read_age_seconds": 60.0, "newest_age_seconds": 60.0}, "UNKNOWN", "not read", "lost on a silent broker"),
    ({**RISING, **STILL, **EMPTY}, "STOP", "no members", "why it rises"),
    ({**STILL, **EMPTY, "is_ghost": True}, "OK", GHOST, "nobody came back"),
    ({**EXPIRED, **EMPTY, "is_ghost": True}, "OK", GHOST, "nobody misses what expires"),
    ({"read_age_seconds": 60.0, "is_ghost": True}, "UNKNOWN", "not read", "a ghost on a silent broker"),
    ({**STILL, **EMPTY, "outside_store": "RedisStore"}, "UNKNOWN", OUTSIDE, "progress is kept outside"),
    ({"lag_messages": 0, "outside_store": "RedisStore"}, "UNKNOWN", OUTSIDE, "a level offset says nothing either"),
    ({**STILL, **OWNED, "is_paused": True}, "OK", "paused by configuration", "paused"),
    ({**STILL, **EMPTY, "is_paused": True}, "OK", "paused by configuration", "paused, and its members are gone"),
    ({**EXPIRED, **STILL, "is_paused": True}, "LOSS", "unread messages have expired", "paused for too long"),
    ({**RISING, "is_paused": True}, "WARN", "falling behind", "it consumes, whatever the configuration says"),
    ({**STILL, **EMPTY, **AWAY}, "OK", "offline by habit", "a job that runs at night"),
    ({**STILL, **EMPTY, **AWAY, "time_lag_seconds": 801.0}, "STOP", "no members", "it is overdue"),
    ({**STILL, **EMPTY, **AWAY, "habit_limit_seconds": None}, "STOP", "no members", "how long it waits is not known"),
    ({**STILL, **EMPTY, **AWAY, "time_lag_seconds": None}, "STOP", "no members", "how long it has waited is not known"),
    (
        {**STILL, **EMPTY, **AWAY, "expires_in_seconds": 3600.0},
        "STOP",
        "no members",
        "its messages expire within a day",
    ),
    ({**STILL, **EMPTY, **AWAY, "expires_in_seconds": 90000.0}, "OK", "offline by habit", "they do not"),
    ({**EXPIRED, **EMPTY, **AWAY}, "LOSS", "unread messages have expired", "its messages expired before its time"),
    ({**STILL, **EMPTY, "has_unlisted_members": True}, "STALL", "still, owner unread", "members at a proxy stand"),
    ({"lag_messages": 0, "is_popping": True}, "OK", POPPED, "all popped, not all done"),
    ({**STILL, **UNOWNED, "is_popping": True}, "STALL", "still, owner unread", "members that pop own nothing"),
    ({"is_popping": True}, "OK", "behind", "not all popped"),
    ({"read_age_seconds": 60.0, "is_broadcasting": True}, "UNKNOWN", NOT_REPORTED, "every member left"),
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
    assert {rule.name for rule in ordered_rules(Durations())} == {rule for _, _, rule, _ in TABLE}


def row_of(judged, sentence):
    return judged[next(number for number, row in enumerate(TABLE) if row[3] == sentence)]


def test_still_queues_began_with_their_last_move(judged):
    assert row_of(judged, "its owner does not move")["since"] == at(350)


def test_a_state_without_evidence_counts_from_when_it_is_judged(judged):
    assert row_of(judged, "the time lag rises")["since"] is None


def test_a_detail_leaves_out_what_is_not_known(judged):
    assert row_of(judged, "silent for a minute")["detail"] == '{"seconds_since_read":60.0}'


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
