"""432 windows beside Burrow's verdicts, for a group that is online: where we differ, it is for one of these reasons."""

import json
from collections import Counter
from pathlib import Path
from statistics import median

import pytest
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.pipeline.judge import judge
from consumers.pipeline.numbers import window_numbers
from consumers.pipeline.queue_arrays import ENTRY, QUEUE, queue_arrays
from consumers.pipeline.time_lag import with_points
from tests.numbers_rows import with_defaults
from tests.pipeline_rows import PLACE, at, frame, us

pytestmark = pytest.mark.spark

CASES = json.loads((Path(__file__).parents[2] / "data" / "burrow_cases.json").read_text())
# A message stands for a minute of production: Burrow judges messages, we judge time.
MINUTES_PER_MESSAGE = 60.0
# Burrow's window counts commits; ours is as long as its longest one, and "still" is as long as a verdict needs.
DURATIONS = Durations(window_seconds=300, stall_seconds=45, retry_stall_seconds=45)


def readings(case):
    """A reading for each commit, and one at the moment of judging."""
    last = case["offsets"][-1][0]
    seen = [(offset, lag) for offset, lag in case["offsets"]] + [(last, case["current_lag"])]
    place = {**PLACE, "topic": case["id"], "kind": "normal"}
    start = 300 - 15 * len(seen)
    return [
        {
            **place,
            "taken_at": at(start + 15 * number),
            "consumer_offset": offset,
            # A commit of which Burrow did not know the lag: neither do we.
            "broker_offset": None if lag is None else offset + lag,
            "unknown_reason": "not known" if lag is None else None,
        }
        for number, (offset, lag) in enumerate(seen)
    ]


def trend(case):
    lags = [lag for _, lag in case["offsets"] if lag is not None] + [case["current_lag"]]
    third = max(1, len(lags) // 3)
    first, last = median(lags[:third]), median(lags[-third:])
    return {
        **{name: PLACE[name] for name in QUEUE},
        "topic": case["id"],
        "trend_from_seconds": first * MINUTES_PER_MESSAGE,
        "trend_to_seconds": last * MINUTES_PER_MESSAGE,
        "trend_covers_seconds": 600.0,
    }


@pytest.fixture(scope="module")
def states(_session):
    found = frame(_session, "readings", [row for case in CASES for row in readings(case)])
    arrays = with_points(queue_arrays(found), 0)

    def lag(point):
        seconds = (point["broker_offset"] - point["consumer_offset"]) * MINUTES_PER_MESSAGE
        kind, error = F.lit("interpolated").alias("kind"), F.lit(20.0).alias("error_seconds")
        return F.struct(point["at_us"].alias("at_us"), seconds.alias("seconds"), kind, error)

    # Lags were drawn at random, each for itself: no broker has such offsets, so RECREATED is left out.
    whole = arrays.withColumns(
        {
            "lags": F.transform("points", lag),
            "seen": F.col("readings"),
            "fresh": F.col("readings"),
            "fallen": F.lit(None).cast(ENTRY),
        }
    )
    numbers = window_numbers(whole, us(300), DURATIONS)
    trends = _session.createDataFrame([trend(case) for case in CASES])
    judged = judge(with_defaults(numbers.join(trends, on=QUEUE, how="left"), members=1), DURATIONS).toArrow()
    return {row["topic"]: (row["state"], row["rule"]) for row in judged.to_pylist()}


def verdict_online(case):
    """Burrow's rules in Burrow's order, without STOP: its members are not asked, ours are there."""
    rules = case["rules"]
    if case["current_lag"] <= case["allowed_lag"]:
        return "OK"
    if rules["rewind_index"] >= 0 and not rules.get("rewind_recovered"):
        return "REWIND"
    if not rules["lag_always_not_zero"]:
        return "OK"
    if rules["stalled"]:
        return "STALL"
    return "WARN" if rules["lag_not_decreasing"] else "OK"


SHORT = "four readings over 45 s are needed; Burrow judges a single commit"
EVERY_DROP = "every drop counts, at zero lag too; Burrow looks at the first one, and at none when it is level"
TIME = "an allowance is time, not messages"
RISE = "a lag that stays the same does not rise, and one dip does not end a rise"
UNKNOWN_LAG = "a reading whose lag is not known is not judged"

# (allowed lag above zero, Burrow's state, ours): how many, and why we differ.
DIFFERENCES = {
    (False, "OK", "UNKNOWN"): (7, SHORT),
    (False, "OK", "REWIND"): (11, EVERY_DROP),
    (False, "OK", "WARN"): (4, RISE),
    (False, "REWIND", "UNKNOWN"): (8, SHORT),
    (False, "STALL", "UNKNOWN"): (23, SHORT),
    (False, "WARN", "OK"): (1, RISE),
    (False, "WARN", "UNKNOWN"): (11, SHORT),
    (True, "OK", "UNKNOWN"): (9, SHORT),
    (True, "OK", "REWIND"): (5, EVERY_DROP),
    (True, "OK", "STALL"): (4, TIME),
    (True, "OK", "WARN"): (2, TIME),
    (True, "REWIND", "WARN"): (1, UNKNOWN_LAG),
    (True, "STALL", "UNKNOWN"): (2, SHORT),
    (True, "WARN", "OK"): (1, RISE),
    (True, "WARN", "UNKNOWN"): (2, SHORT),
}
AGREED = {"OK": 64, "REWIND": 83, "STALL": 82, "WARN": 112}


def test_the_states_agree_or_differ_for_these_reasons(states):
    agreed, differing = Counter(), Counter()
    for case in CASES:
        theirs, (ours, _) = verdict_online(case), states[case["id"]]
        if theirs == ours:
            agreed[theirs] += 1
        else:
            differing[case["allowed_lag"] > 0, theirs, ours] += 1
    assert agreed == AGREED
    assert differing == {key: count for key, (count, _) in DIFFERENCES.items()}


def test_a_short_window_is_the_only_reason_for_unknown(states):
    unknown = [case for case in CASES if states[case["id"]][0] == "UNKNOWN"]
    assert {states[case["id"]][1] for case in unknown} == {"too few readings to judge"}
    assert max(len(case["offsets"]) for case in unknown) == 2


def test_a_rise_that_one_dip_hides_from_burrow_is_seen(states):
    assert states["edge-ok-one-dip"] == ("WARN", "time lag rises")


def test_a_second_drop_is_seen(states):
    assert states["edge-second-rewind-hidden"] == ("REWIND", "offset went back")


@pytest.mark.parametrize("key", DIFFERENCES, ids=str)
def test_every_difference_is_explained_in_the_documentation(key):
    text = (Path(__file__).parents[3] / "docs" / "judging.md").read_text()
    assert DIFFERENCES[key][1] in " ".join(text.split())
