"""Every rule, and the order of the rules: numbers of a queue, the state they give, and why.

Each row changes the numbers of a queue that is behind and moving along; what it changes stands in it.
"""

from typing import Any

import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.judge import judge
from consumers.pipeline.rules.order import ordered_rules
from consumers.polling.reading import NOT_REPORTED
from tests.numbers_rows import DEFAULTS
from tests.pipeline_rows import PLACE, at, us

pytestmark = pytest.mark.spark

BEHIND: dict[str, tuple[str, Any]] = {
    "kind": ("string", "normal"),
    "read_age_seconds": ("double", 10.0),
    "known_age_seconds": ("double", 10.0),
    "newest_age_seconds": ("double", 10.0),
    "newest_reason": ("string", None),
    "readings_seen": ("int", 12),
    "seen_seconds": ("double", 165.0),
    "readings_in_window": ("int", 12),
    "window_seconds": ("double", 165.0),
    "last_us": ("bigint", us(590)),
    "recreated_us": ("bigint", None),
    "recreated_offset": ("bigint", None),
    "consumer_offset": ("bigint", 1000),
    "broker_offset": ("bigint", 5000),
    "min_offset": ("bigint", 0),
    "pull_offset": ("bigint", None),
    "lag_messages": ("bigint", 4000),
    "highest_consumer_offset": ("bigint", 1000),
    "dropped_us": ("bigint", None),
    "skipped": ("struct<at_us:bigint,from_offset:bigint,min_offset:bigint,to_offset:bigint>", None),
    "moves": ("int", 11),
    "stood_us": ("bigint", us(590)),
    "has_moved": ("boolean", True),
    "still_seconds": ("double", 0.0),
    "consume_rate": ("double", 10.0),
    "produce_rate": ("double", 12.0),
    "time_lag_seconds": ("double", 400.0),
    "time_lag_kind": ("string", "interpolated"),
    "time_lag_error_seconds": ("double", 20.0),
    "was_within_allowance": ("boolean", False),
}
COLUMNS = {**{name: ("string", PLACE[name]) for name in ("cluster", "group", "topic", "broker")}, **BEHIND, **DEFAULTS}

STILL = {"moves": 0, "has_moved": False, "still_seconds": 240.0, "stood_us": us(350), "consume_rate": 0.0}
EMPTY = {"members": 0, "without_members_seconds": 120.0}
UNOWNED = {"members": 2, "owners_known": True, "unowned_seconds": 120.0}
OWNED = {"members": 2, "owners_known": True, "owner": "c1"}
RISING = {"trend_from_seconds": 200.0, "trend_to_seconds": 390.0, "trend_covers_seconds": 600.0}
BACK = {"highest_consumer_offset": 1500, "dropped_us": us(570)}
EXPIRED = {"min_offset": 1200}
SKIPPED = {"skipped": (us(560), 500, 900, 900)}
FEW = {"readings_in_window": 2, "window_seconds": 15.0}
AWAY = {"is_away": True, "habit_limit_seconds": 800.0}
GHOST, OUTSIDE = "ghost: nobody consumes here any more", "its progress is kept outside the brokers"
POPPED = "popped to the end; acks are not in the offset"
REPLAYED = {"owner_changed_us": us(540), "in_flight_seen": 500}

TABLE = [
    ({}, "OK", "behind", "moves, lag grows, no trend yet"),
    ({"consume_rate": 20.0}, "OK", "behind, draining", "consumes more than is produced"),
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
    ({"time_lag_seconds": 60.0, "time_lag_kind": "at_least"}, "OK", "behind", "at least has no upper end"),
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
    (RISING, "WARN", "time lag rises", "by more than a fifth and a minute"),
    ({**RISING, "trend_to_seconds": 239.0}, "OK", "behind", "by less than a fifth"),
    ({**RISING, "trend_from_seconds": 100.0, "trend_to_seconds": 159.0}, "OK", "behind", "by less than a minute"),
    ({**RISING, "trend_covers_seconds": 540.0}, "OK", "behind", "over less than ten minutes"),
    ({**RISING, "time_lag_seconds": 300.0}, "OK", "behind", "not five minutes behind"),
    ({**RISING, "consume_rate": 20.0}, "OK", "behind, draining", "gone within half an hour"),
    ({**RISING, "consume_rate": 13.0}, "WARN", "time lag rises", "it drains, but not soon"),
    ({**RISING, **STILL, **EMPTY}, "STOP", "no members", "why it rises"),
    ({**STILL, **EMPTY, "is_ghost": True}, "OK", GHOST, "nobody came back"),
    ({**EXPIRED, **EMPTY, "is_ghost": True}, "OK", GHOST, "nobody misses what expires"),
    ({"read_age_seconds": 60.0, "is_ghost": True}, "UNKNOWN", "not read", "a ghost on a silent broker"),
    ({**STILL, **EMPTY, "outside_store": "RedisStore"}, "UNKNOWN", OUTSIDE, "progress is kept outside"),
    ({"lag_messages": 0, "outside_store": "RedisStore"}, "UNKNOWN", OUTSIDE, "a level offset says nothing either"),
    ({**STILL, **OWNED, "is_paused": True}, "OK", "paused by configuration", "paused"),
    ({**STILL, **EMPTY, "is_paused": True}, "OK", "paused by configuration", "paused, and its members are gone"),
    ({**EXPIRED, **STILL, "is_paused": True}, "LOSS", "unread messages have expired", "paused for too long"),
    ({**RISING, "is_paused": True}, "WARN", "time lag rises", "it consumes, whatever the configuration says"),
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
    ({**RISING, "time_lag_seconds": 300.0, "expires_in_seconds": 3600.0}, "WARN", "time lag rises", "short kept"),
    ({**EXPIRED, **EMPTY, **AWAY}, "LOSS", "unread messages have expired", "its messages expired before its time"),
    ({**STILL, **EMPTY, "has_unlisted_members": True}, "STALL", "still, owner unread", "members at a proxy stand"),
    ({"lag_messages": 0, "is_popping": True}, "OK", POPPED, "all popped, not all done"),
    ({**STILL, **UNOWNED, "is_popping": True}, "STALL", "still, owner unread", "members that pop own nothing"),
    ({"is_popping": True}, "OK", "behind", "not all popped"),
    ({"read_age_seconds": 60.0, "is_broadcasting": True}, "UNKNOWN", NOT_REPORTED, "every member left"),
]


@pytest.fixture(scope="module")
def judged(_session):
    rows = [
        tuple({**{name: value for name, (_, value) in COLUMNS.items()}, **changed, "queue_id": number}.values())
        for number, (changed, *_) in enumerate(TABLE)
    ]
    columns = [*COLUMNS.items(), ("queue_id", ("int", 0))]
    schema = ", ".join(f"`{name}` {kind}" for name, (kind, _) in columns)
    found = judge(_session.createDataFrame(rows, schema), Durations()).toArrow().to_pylist()
    return {row["queue_id"]: row for row in found}


@pytest.mark.parametrize("number", range(len(TABLE)), ids=lambda number: TABLE[number][3])
def test_it_judges(number, judged):
    _, state, rule, _ = TABLE[number]
    assert (judged[number]["state"], judged[number]["rule"]) == (state, rule)


@pytest.mark.usefixtures("_session")
def test_every_rule_decides_at_least_one_row():
    assert {rule.name for rule in ordered_rules(Durations())} == {rule for _, _, rule, _ in TABLE}


def row_of(judged, sentence):
    return judged[next(number for number, row in enumerate(TABLE) if row[3] == sentence)]


def test_still_queues_began_with_their_last_move(judged):
    assert row_of(judged, "its owner does not move")["since"] == at(350)


def test_a_state_without_evidence_counts_from_when_it_is_judged(judged):
    assert row_of(judged, "by more than a fifth and a minute")["since"] is None


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
