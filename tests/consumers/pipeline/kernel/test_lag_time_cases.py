"""400 looked-up offsets beside kafka-lag-exporter's answers: the same inside the table, no extrapolation outside."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.anchors import ANCHORS
from consumers.pipeline.kernel.time_lag import time_lags
from tests.pipeline_rows import PLACE, gathered, lags_of, stored_history, table

CASES = json.loads((Path(__file__).parents[3] / "data" / "lag_time_cases.json").read_text())
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(milliseconds):
    return EPOCH + timedelta(milliseconds=milliseconds)


def reading(case):
    """The queue as it was read at that moment; an offset beyond the table is ahead of the broker."""
    end = case["points"][-1][0] if case["points"] else case["query_offset"] + 1
    ahead = "consumer_ahead" if case["query_offset"] > end else None
    return {
        **PLACE,
        "topic": case["id"],
        "kind": "normal",
        "taken_at": moment(case["now_ms"]),
        "consumer_offset": case["query_offset"],
        "broker_offset": end,
        "unknown_reason": ahead,
    }


@pytest.fixture(scope="module")
def answers():
    place = {name: PLACE[name] for name in ("cluster", "broker", "queue_id")}
    knots = [
        {**place, "topic": case["id"], "broker_offset": offset, "at": moment(time_ms)}
        for case in CASES
        for offset, time_ms in case["points"]
    ]
    read = gathered([reading(case) for case in CASES])
    known = table("knots", knots)
    lags, _ = time_lags(read, 0, stored_history(lambda _: known), Durations(), ANCHORS.empty_table())
    found = lags_of(read, lags)
    return {row["topic"]: row["lags"][0] if row["lags"] else None for row in found}


def place_in_table(case):
    offsets = [offset for offset, _ in case["points"]]
    if not offsets or case["query_offset"] < offsets[0]:
        return "before"
    return (
        "inside" if case["query_offset"] < offsets[-1] else "level" if case["query_offset"] == offsets[-1] else "ahead"
    )


def of_place(name):
    return [case for case in CASES if place_in_table(case) == name]


def test_inside_the_table_it_gives_the_same_time_lag(answers):
    for case in of_place("inside"):
        answer = answers[case["id"]]
        assert answer["kind"] == "interpolated", case["id"]
        assert answer["seconds"] == pytest.approx(case["time_lag_seconds"], rel=1e-9, abs=1e-5), case["id"]


def test_a_level_queue_needs_no_look_up(answers):
    assert all(answers[case["id"]] is None and case["time_lag_seconds"] == 0 for case in of_place("level"))


def test_an_offset_ahead_of_the_broker_has_no_time_lag(answers):
    """The other answers with a negative number, minus infinity, or a positive one from a rate that is over."""
    assert all(answers[case["id"]] is None for case in of_place("ahead"))


def test_before_the_table_it_says_at_least_the_age_of_the_oldest_knot(answers):
    """The other extrapolates along the mean rate, to infinity where nothing was produced, or gives NaN."""
    for case in of_place("before"):
        answer = answers[case["id"]]
        age = (case["now_ms"] - case["points"][0][1]) / 1000 if case["points"] else None
        expected = ("at_least", age) if age else ("unknown", None)
        assert (answer["kind"], answer["seconds"]) == expected, case["id"]
        assert answer["error_seconds"] is None


def test_the_differences_are_these_and_no_others():
    places = Counter((place_in_table(case), case["lookup"]) for case in CASES)
    assert places == {
        ("inside", "Prediction"): 189,
        ("level", "LagIsZero"): 69,
        ("before", "Prediction"): 70,
        ("before", "TooFewPoints"): 7,
        ("ahead", "Prediction"): 60,
        ("ahead", "TooFewPoints"): 5,
    }
