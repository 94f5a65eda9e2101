"""What a rebalance moved and cost: stories of one queue each."""

import json
from typing import Any

import pytest

from tests.consumers.pipeline.rebalances.cost_rows import Story, says

# For 45 s the first message that a holds has not been finished.
STOOD = {0: [(-45, 900, 1400), (-15, 900, 1600), (0, 900, 1600), (15, 900, 1600), (30, 900, 1600)]}
FROM_A_TO_B = {0: {0: ["a"]}, 15: {0: ["b"]}, 30: {0: ["b"]}}
STILL = {0: [(0, 100, 100), (15, 100, 100), (30, 100, 100)]}
QUIET = [says(0, "a", 100), says(15, "b", 100), says(30, "b", 100)]

STORIES = [
    # a had done all below 1,000 and held 50 more; b began at what was committed, 900.
    Story(
        "killed",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 1000, (1000, 1049)), says(15, "b", 900, (900, 950)), says(30, "b", 1200)],
        offsets={0: [(0, 900, 1600), (15, 900, 2000), (30, 1150, 2200)]},
    ),
    # b has gone on for a while when it is asked first: it cannot be told where it began.
    Story(
        "passed",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 1000, (1000, 1049)), says(15, "b", 1400, (1400, 1410)), says(30, "b", 1500)],
        offsets={0: [(-60, 0, 5000), (-15, 750, 5000), (0, 990, 5000), (15, 1400, 5000), (30, 1500, 5000)]},
        may_hold={"a": 2032},
    ),
    # It has not reported its settings.
    Story(
        "passed by another",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 1000, (1000, 1049)), says(15, "b", 1400, (1400, 1410)), says(30, "b", 1500)],
        offsets={0: [(-60, 0, 5000), (-15, 750, 5000), (0, 990, 5000), (15, 1400, 5000), (30, 1500, 5000)]},
    ),
    # Its head stands, and it pulled on after its last answer: held at most 2,032 from there on.
    Story(
        "pulled on",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 5, (5, 2008), count=30), says(15, "b", 5, (5, 36))],
        offsets={0: [(-15, 5, 2500), (0, 5, 2500), (15, 5, 2500), (30, 5, 2500)]},
        may_hold={"a": 2032},
    ),
    Story(
        "nobody knows the end",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 1000, (1000, 1049)), says(15, "b", 900, (900, 950))],
        offsets={0: [(0, 900, 1600)]},
    ),
    # It holds that one alone: all behind it may be finished.
    Story(
        "overtaken",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 900, (900, 900), count=1), says(15, "b", 900, (900, 931))],
        offsets=STOOD,
    ),
    # Others wait behind it for a thread: they were pulled last.
    Story(
        "overtaken by few",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 900, (900, 1099), count=90), says(15, "b", 900, (900, 931))],
        offsets=STOOD,
        may_hold={"a": 150},
    ),
    Story(
        "standing in order",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 900, (900, 930), count=31, is_orderly=True), says(15, "b", 900, (900, 931))],
        offsets=STOOD,
        may_hold={"a": 150},
    ),
    Story(
        "overtaken for a moment",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 900, (900, 900), count=1), says(15, "b", 900, (900, 931))],
        offsets={0: STOOD[0][1:]},
        may_hold={"a": 150},
    ),
    Story("quiet", owners=FROM_A_TO_B, said=QUIET, offsets=STILL),
    Story(
        "lapsed",
        owners={0: {0: ["a"]}, 15: {}, 30: {}, 45: {0: ["b"]}, 60: {0: ["b"]}},
        said=[says(0, "a", 100), says(45, "b", 100)],
        offsets={0: [*STILL[0], (45, 100, 100)]},
    ),
    Story("once doubled", owners={0: {0: ["a"]}, 15: {0: ["a", "b"]}, 30: {0: ["b"]}}, said=QUIET, offsets=STILL),
    # Another start of the same client: it has caught up with itself when it is asked.
    Story(
        "restarted",
        owners={0: {0: ["a"]}, 15: {0: ["a"]}},
        said=[says(0, "a", 1000), says(15, "a", 1000, started=9)],
        offsets={0: [(0, 900, 1000), (15, 900, 1000)]},
    ),
    Story(
        "gone back",
        owners={0: {0: ["a"]}, 15: {0: ["a"]}},
        said=[says(0, "a", 1000), says(15, "a", 940)],
        offsets={0: [(0, 900, 1000), (15, 900, 1000)]},
    ),
    # A hole in its own answers, though nobody else held the queue.
    Story(
        "stuck",
        owners={0: {0: ["a"]}, 15: {}, 30: {0: ["a"]}},
        said=[says(0, "a", 1000), says(30, "a", 1005)],
        offsets={0: [(0, 980, 1010), (15, 980, 1010), (30, 980, 1010)]},
    ),
    Story(
        "handed on late",
        owners={0: {0: ["a"]}, 15: {0: ["a"]}, 30: {0: ["b"]}},
        said=[says(0, "a", 1000), says(15, "a", 1100), says(30, "b", 1050)],
        offsets={0: [(0, 990, 1100), (15, 1040, 1100), (30, 1050, 1100)]},
    ),
    Story("unasked before", owners={15: {0: ["b"]}}, said=QUIET[1:], offsets=STILL),
    Story("unasked after", owners={0: {0: ["a"]}}, said=QUIET[:1], offsets=STILL),
    Story("behind a proxy"),
    Story("left alone", owners={0: {0: ["a"]}, 15: {}, 30: {}}, said=[says(0, "a", 100)], offsets=STILL, end=30),
    Story("taken up", owners={0: {}, 15: {0: ["b"]}}, said=QUIET[1:], offsets=STILL),
    # Nobody held it for an hour; a had done all below 120 then, and held five more.
    Story(
        "taken up again",
        owners={0: {}, 15: {0: ["b"]}},
        said=QUIET[1:],
        offsets=STILL,
        earlier=says(-3600, "a", 120, (120, 124)),
    ),
    Story(
        "never committed",
        owners=FROM_A_TO_B,
        said=[says(0, "a", None), says(15, "b", None), says(30, "b", None)],
        offsets={0: [(0, None, 0), (15, None, 0), (30, None, 0)]},
    ),
    # The group is seen first when the queue has just moved.
    Story(
        "first seen empty",
        owners=FROM_A_TO_B,
        said=[says(0, "a", None), says(15, "b", None), says(30, "b", None)],
        offsets={0: [(15, None, 0), (30, 4, 9)]},
    ),
    Story(
        "first seen with messages",
        owners=FROM_A_TO_B,
        said=[says(0, "a", None), says(15, "b", None), says(30, "b", None)],
        offsets={0: [(15, None, 9), (30, None, 9)]},
    ),
    Story(
        "unsaid start",
        owners=FROM_A_TO_B,
        said=[says(0, "a", 1000), says(15, "b", None), says(30, "b", None)],
        offsets={},
    ),
    # Queue 1 is seen first at 15 s.
    Story(
        "grown",
        owners={0: {0: ["a"]}, 15: {0: ["a"], 1: ["a"]}},
        said=[says(0, "a", 100), says(15, "a", 100), says(15, "a", 0, queue_id=1)],
        offsets={**STILL, 1: [(15, 0, 4), (30, 4, 4)]},
        wanted={0: None, 1: 15},
    ),
    Story("broadcasting", owners={0: {0: ["a"]}, 15: {0: ["a", "b"]}}, said=QUIET, offsets=STILL, broadcasting=True),
    Story(
        "unread in it",
        owners={0: {0: ["a"], 1: ["a"]}, 15: {0: ["b"], 1: ["a"]}},
        offsets={**STILL, 1: [(0, 5, 9), (30, 9, 9)]},
        wanted={0: None, 1: None},
    ),
]


@pytest.fixture(scope="module")
def topics() -> dict[str, dict[str, Any]]:
    """The row of each story, by its group."""
    found = {story.group: story.topic() for story in STORIES}
    return {group: {**row, "unknown": json.loads(row["unknown"])} for group, row in found.items()}


@pytest.mark.parametrize(
    ("group", "moved"),
    [("killed", 1), ("restarted", 0), ("grown", 1), ("left alone", 1), ("broadcasting", 1), ("behind a proxy", None)],
)
def test_queues_that_moved_are_those_with_other_owners(topics, group, moved):
    assert topics[group]["queues_moved"] == moved


@pytest.mark.parametrize(
    ("group", "low", "high"),
    [
        ("killed", 100, 1100),  # from 900 to 1,000, and to the 2,000 that there were
        ("passed", 0, 2126),  # 1,400 messages in 75 s: five seconds of that pace beside what it may hold
        ("passed by another", 0, 4010),  # from 990 to the end
        ("pulled on", 0, 2032),
        ("overtaken", 0, 700),
        ("overtaken by few", 0, 200),
        ("overtaken for a moment", 0, 150),
        ("standing in order", 0, 150),
        ("quiet", 0, 0),
        ("lapsed", 0, 0),
        ("restarted", 0, 100),
        ("gone back", 60, 100),
        ("stuck", 0, 30),
        ("handed on late", 50, 60),
        ("taken up again", 20, 25),
        ("left alone", 0, 0),  # nobody has it, so nobody was given anything again
        ("never committed", 0, 0),
        ("first seen empty", 0, 0),
        ("grown", 0, 0),
    ],
)
def test_what_was_replayed_lies_between_two_bounds(topics, group, low, high):
    assert (topics[group]["replayed_messages_low"], topics[group]["replayed_messages"]) == (low, high)


@pytest.mark.parametrize(
    ("group", "field", "reason"),
    [
        ("unasked before", "queues_moved", "owners_before_not_sampled"),
        ("unasked after", "unowned_queue_seconds", "owners_after_not_sampled"),
        ("unasked after", "replayed_messages", "owners_after_not_sampled"),
        ("behind a proxy", "doubly_owned_queues", "owners_before_not_sampled"),
        ("taken up", "replayed_messages", "no_old_owner"),
        ("unsaid start", "replayed_messages_low", "no_start"),
        ("first seen with messages", "replayed_messages_low", "no_start"),
        ("nobody knows the end", "replayed_messages", "no_end"),
        ("broadcasting", "replayed_messages", "own_offsets"),
        ("broadcasting", "unowned_queue_seconds", "every_member"),
        ("broadcasting", "doubly_owned_queues", "every_member"),
        ("unsaid start", "lag_before_messages", "lag_before_unknown"),
        ("never committed", "lag_peak_messages", "lag_within_unknown"),
        ("unread in it", "lag_peak_messages", "lag_within_unknown"),
    ],
)
def test_what_was_not_seen_is_null_with_its_reason(topics, group, field, reason):
    assert (topics[group][field], topics[group]["unknown"][field]) == (None, reason)


def test_every_null_of_every_story_has_a_reason(topics):
    for row in topics.values():
        assert {name for name, value in row.items() if value is None} == set(row["unknown"])


@pytest.mark.parametrize(
    ("group", "kind", "low", "sampled", "high"),
    [
        ("lapsed", "unowned", 15, 30, 45),
        ("stuck", "unowned", 0, 15, 30),
        ("once doubled", "doubly_owned", 0, 15, 30),
        ("killed", "unowned", 0, 0, 0),
        ("taken up", "unowned", 0, 0, 15),
    ],
)
def test_a_lapse_lasts_from_reading_to_reading_with_both_bounds(topics, group, kind, low, sampled, high):
    move = topics[group]["moves"][0]
    seconds = [move[f"{kind}_seconds{bound}"] for bound in ("_low", "", "_high")]
    assert seconds == [low, sampled, high]
    assert topics[group][f"{kind}_queue_seconds"] == sampled


def test_a_queue_that_two_members_held_in_one_reading_is_counted(topics):
    counts = {group: topics[group]["doubly_owned_queues"] for group in ("once doubled", "killed", "broadcasting")}
    assert counts == {"once doubled": 1, "killed": 0, "broadcasting": None}


def test_a_queue_made_later_lacked_no_owner_before(topics):
    row = topics["grown"]
    assert (row["queues"], row["unowned_queue_seconds"]) == (2, 0)
    assert [(move["queue_id"], move["before"], move["after"]) for move in row["moves"]] == [(1, [], ["a"])]


def test_lag_is_that_of_the_reading_before_and_the_highest_within(topics):
    assert (topics["killed"]["lag_before_messages"], topics["killed"]["lag_peak_messages"]) == (700, 1100)
    assert topics["unread in it"]["lag_before_messages"] == 4


def test_a_topic_without_a_move_has_its_row(topics):
    row = topics["restarted"]
    assert (row["queues"], row["queues_moved"], row["unowned_queue_seconds"]) == (1, 0, 0)
