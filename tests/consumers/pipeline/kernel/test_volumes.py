"""How far offsets moved in a window: exact where it is known, null with the reason where it would be a guess.

All cases are looked at at once: each is a queue of its own.
"""

import random
from itertools import pairwise

import pyarrow as pa
import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.readings import no_hands
from consumers.pipeline.kernel.time_lag import TimeLags
from consumers.pipeline.kernel.windows import minute_windows, queue_windows
from consumers.pipeline.volumes import APPEARED
from consumers.vocabulary.states import UnknownReason
from tests.pipeline_rows import at, gathered, rows, us

SINCE, UNTIL = 420, 480
NO_READING = "no_reading_before"
FIRST = "first_commit"
NEVER = {"unknown_reason": UnknownReason.NEVER_COMMITTED}
RETRY = {"kind": "retry", "topic": "%RETRY%billing"}
FRESH = {"kind": "retry", "topic": "%RETRY%fresh"}  # seen to appear at 435


def steps(*offsets, start=405, **fields):
    return rows(list(offsets), start=start, **fields)


# One minute from 420 on; the reading before it is that of 405.
CASES = {
    "moved": (steps((10, 20), (15, 30), (17, 45)), (7, 25, None)),
    "still": (steps((10, 20), (10, 20)), (0, 0, None)),
    "no reading before": (steps((10, 20), start=430), (None, None, NO_READING)),
    "only a reading too long ago": (
        steps((1, 1), start=374) + steps((5, 9), start=430),
        (None, None, NO_READING),
    ),
    "consumer_went_back": (
        steps((50, 60), (40, 70), (60, 80)),
        (None, 20, "consumer_went_back"),
    ),
    "broker_went_back": (steps((5, 60), (5, 10)), (0, None, "broker_went_back")),
    "a reading between that lacks an offset": (steps((1, 10), (2, None), (3, 30)), (2, 20, None)),
    "never committed": (steps((None, 5), (None, 9), **NEVER), (0, 4, None)),
    "the first commit": (steps((None, 5), **NEVER) + steps((8, 9), start=420), (None, 4, FIRST)),
    "a retry queue's first commit": (
        steps((None, 5), **NEVER, **RETRY) + steps((8, 9), start=420, **RETRY),
        (8, 4, None),
    ),
    "a retry queue's first commit after messages expired": (
        steps((None, 5), **NEVER, **RETRY) + steps((8, 9), start=420, min_offset=3, **RETRY),
        (None, 4, FIRST),
    ),
    "a topic that appeared": (steps((3, 7), (4, 9), start=435, **FRESH), (4, 9, None)),
    "a topic that appeared, not committed": (steps((None, 7), start=435, **NEVER, **FRESH), (0, 7, None)),
    "a topic that appeared, in a queue that was read before": (
        steps((1, 1), start=300, **FRESH) + steps((3, 7), start=435, **FRESH),
        (None, None, NO_READING),
    ),
    "a retry topic of which nobody knows since when": (steps((3, 7), start=435, **RETRY), (None, None, NO_READING)),
    "progress kept elsewhere": (
        steps((1, 10), (1, 30), unknown_reason="progress is kept outside"),
        (None, 20, "progress is kept outside"),
    ),
    "a topic that is gone": (steps((4, None), (4, None), unknown_reason=UnknownReason.TOPIC_GONE), (0, 0, None)),
    "a topic that was gone": (
        steps((4, None), unknown_reason=UnknownReason.TOPIC_GONE) + steps((4, 6), start=420),
        (0, 6, None),
    ),
    "a topic that went": (
        steps((4, 6)) + steps((4, None), start=420, unknown_reason=UnknownReason.TOPIC_GONE),
        (0, None, UnknownReason.TOPIC_GONE),
    ),
    "an end that is not known": (steps((4, 6), (5, None), unknown_reason=None), (1, None, "offset_unread")),
}


def windows(readings, appeared, since, until):
    read = gathered(readings)
    minutes = minute_windows(read, no_hands(), pa.Table.from_pylist(appeared, APPEARED), since, until, Durations())
    return queue_windows(read, TimeLags.none(read.queues.num_rows), minutes).sort_by("start").to_pylist()


@pytest.fixture(scope="module")
def found():
    readings = [row | {"queue_id": number} for number, (given, _) in enumerate(CASES.values()) for row in given]
    appeared = [{"cluster": "prod", "topic": "%RETRY%fresh", "broker": "broker-a", "appeared_us": [us(435)]}]
    rows_of = windows(readings, appeared, us(SINCE), us(UNTIL))
    return {row["queue_id"]: (row["consumed"], row["produced"], row["volume_unknown"]) for row in rows_of}


@pytest.mark.parametrize("case", CASES)
def test_it_says_how_far_offsets_moved(found, case):
    assert found[list(CASES).index(case)] == CASES[case][1]


WALKS, MINUTES = 60, 8


def a_walk(number: int) -> list[dict]:
    """Offsets that rise by chance; some readings are missing, and sometimes a queue begins anew."""
    chance = random.Random(number)
    consumer = broker = 0
    walk = []
    for reading in range(MINUTES * 4):
        broker += chance.choice((0, 0, 1, 30))
        consumer = min(broker, consumer + chance.choice((0, 1, 20)))
        if chance.random() < 0.02:
            consumer = broker = 0
        if chance.random() < 0.85:
            walk += rows([(consumer, broker)], start=400 + 15 * reading, queue_id=number)
    return walk


@pytest.fixture(scope="module")
def walked():
    walks = {number: a_walk(number) for number in range(WALKS)}
    readings = [row for walk in walks.values() for row in walk]
    return walks, windows(readings, [], us(420), us(420 + 60 * MINUTES))


@pytest.mark.parametrize("volume", ["consumed", "produced"])
def test_sums_of_windows_that_follow_one_another_are_the_difference_of_the_ends(walked, volume):
    walks, minutes = walked
    offset = {"consumed": "consumer_offset", "produced": "broker_offset"}[volume]
    compared = 0
    for number, walk in walks.items():
        known = [row for row in minutes if row["queue_id"] == number and row[volume] is not None]
        for first, second in pairwise(known):
            if (second["start"] - first["start"]).total_seconds() == 60:
                ends = [
                    [row[offset] for row in walk if row["taken_at"] < end][-1]
                    for end in (first["start"], at_end(second))
                ]
                assert first[volume] + second[volume] == ends[1] - ends[0]
                compared += 1
    assert compared > 100


def at_end(window):
    return at(60) - at(0) + window["start"]
