"""A group's state from those of its queues."""

import math
from itertools import pairwise

import pyarrow as pa
import pytest

from consumers.pipeline.kernel.group_states import WORST_FIRST, group_states
from tests.pipeline_rows import at

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("cluster", "group", "topic", "broker")),
        ("queue_id", pa.int32()),
        *((name, pa.string()) for name in ("kind", "state", "rule", "detail")),
        ("since", pa.timestamp("us", tz="UTC")),
        ("provisional", pa.bool_()),
        ("has_full_window", pa.bool_()),
        ("lag_messages", pa.int64()),
        *((name, pa.float64()) for name in ("consume_rate", "produce_rate", "time_lag_seconds")),
        ("time_lag_kind", pa.string()),
        ("newest_reason", pa.string()),
        ("time_lag_error_seconds", pa.float64()),
        ("expires_unconsumed_seconds", pa.float64()),
        ("reserved_seconds", pa.float64()),
    ]
)


def queue(queue_id, state="OK", **fields):
    values = {"cluster": "prod", "group": "billing", "topic": "Orders", "broker": "broker-a", "queue_id": queue_id}
    values |= {"kind": "normal", "state": state, "rule": f"rule of {queue_id}", "detail": "{}", "since": at(queue_id)}
    values |= {"provisional": False, "has_full_window": True, "lag_messages": 10, "consume_rate": 3.0}
    values |= {"produce_rate": 1.0, "time_lag_seconds": 30.0, "time_lag_kind": "interpolated", "newest_reason": None}
    values |= {"time_lag_error_seconds": 20.0, "expires_unconsumed_seconds": math.inf}
    values |= {"reserved_seconds": 259_200.0}
    return {**values, **fields}


def group(*queues):
    (row,) = group_states(pa.Table.from_pylist(list(queues), SCHEMA)).to_pylist()
    return row


@pytest.mark.parametrize(("worse", "better"), list(pairwise(WORST_FIRST)))
def test_the_worst_queue_decides(worse, better):
    row = group(queue(0, better), queue(1, worse), queue(2, "OK"))
    assert (row["state"], row["rule"], row["worst_queue_id"], row["since"]) == (worse, "rule of 1", 1, at(1))


def test_of_equals_the_longest_lag_stands_for_them():
    row = group(queue(0, "STALL"), queue(1, "STALL", time_lag_seconds=90.0), queue(2, "STALL"))
    assert row["worst_queue_id"] == 1


def test_the_retry_topic_is_judged_apart():
    row = group(queue(0), queue(1, "STALL", kind="retry", produce_rate=0.5))
    assert (row["state"], row["queues"], row["consume_rate"], row["retry_rate"]) == ("OK", 1, 3.0, 0.5)


def test_a_group_of_which_only_the_retry_topic_was_read_is_unknown():
    row = group(queue(0, kind="retry"))
    assert (row["state"], row["completeness"], row["worst_topic"]) == ("UNKNOWN", 0.0, None)


def test_completeness_is_the_share_of_full_windows():
    assert group(queue(0), queue(1, has_full_window=False))["completeness"] == 0.5


@pytest.mark.parametrize(
    ("other", "expected", "why"),
    [
        ({}, (30.0, "interpolated"), "both known"),
        ({"time_lag_seconds": 90.0, "time_lag_kind": "at_least"}, (90.0, "at_least"), "the longest is a lower bound"),
        ({"time_lag_seconds": 9.0, "time_lag_kind": "at_least"}, (30.0, "at_least"), "the shorter may be the longer"),
        ({"time_lag_seconds": None, "time_lag_kind": "unknown"}, (30.0, "at_least"), "one is not known"),
        (
            {"time_lag_seconds": None, "time_lag_kind": "unknown", "newest_reason": "never_committed"},
            (30.0, "interpolated"),
            "a queue without an offset has no time lag",
        ),
        ({"time_lag_seconds": 90.0, "kind": "retry"}, (90.0, "interpolated"), "a retry waits from when it was due"),
        ({"time_lag_seconds": 90.0, "time_lag_kind": "exact"}, (90.0, "exact"), "the longest was asked for"),
        ({"time_lag_seconds": 49.0, "time_lag_kind": "exact"}, (49.0, "interpolated"), "the other may be longer"),
    ],
)
def test_its_time_lag_is_that_of_its_longest_queue(other, expected, why):
    row = group(queue(0), queue(1, **other))
    assert (row["time_lag_seconds"], row["time_lag_kind"]) == expected, why


def test_its_time_lag_is_unknown_where_no_queues_is_known():
    row = group(queue(0, time_lag_seconds=None, time_lag_kind="unknown"))
    assert (row["time_lag_seconds"], row["time_lag_kind"]) == (None, "unknown")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (6.0, 2.0, 5.0)),
        ({"consume_rate": None}, (None, 2.0, None)),
        ({"produce_rate": 9.0}, (6.0, 10.0, None)),
        ({"produce_rate": 5.0 - 1e-9}, (6.0, 6.0 - 1e-9, None)),
        ({"lag_messages": None}, (6.0, 2.0, None)),
    ],
    ids=["all known", "a rate is missing", "more is produced", "it would take centuries", "a lag is missing"],
)
def test_its_rates_and_when_it_has_drained(fields, expected):
    row = group(queue(0), queue(1, **fields))
    assert (row["consume_rate"], row["produce_rate"], row["drain_seconds"]) == expected


@pytest.mark.parametrize(
    ("of_queues", "expected"),
    [
        ([math.inf, math.inf], (None, "none")),
        ([math.inf, 7200.0, 3600.0], (3600.0, "expected")),
        ([math.inf, None], (None, "no_trend")),
        ([3600.0, None], (3600.0, "at_most")),
    ],
    ids=["none expected", "the first counts", "one is not known", "what is expected is said, as a bound"],
)
def test_the_first_queue_to_lose_messages_is_that_of_the_group(of_queues, expected):
    row = group(*(queue(number, expires_unconsumed_seconds=one) for number, one in enumerate(of_queues)))
    assert (row["expires_unconsumed_seconds"], row["expiry_forecast"]) == expected


@pytest.mark.parametrize(
    ("lacking", "expected"),
    [
        ({"reserved_seconds": None, "time_lag_seconds": None}, "no_retention"),
        ({"time_lag_seconds": None}, "no_time_lag"),
        ({}, "no_trend"),
        ({"newest_reason": "never_committed"}, "none"),
    ],
)
def test_a_forecast_that_is_unknown_says_what_is_not_known(lacking, expected):
    row = group(queue(0), queue(1, expires_unconsumed_seconds=None, **lacking))
    assert (row["expires_unconsumed_seconds"], row["expiry_forecast"]) == (None, expected)


def test_a_group_of_which_no_queue_counts_has_no_forecast():
    assert group(queue(0, kind="retry"))["expiry_forecast"] == "unknown"
