"""One unknown queue makes its group's window unknown, and says why."""

import pyarrow as pa
import pytest

from consumers.pipeline.kernel.group_windows import group_windows
from consumers.pipeline.known import UNREAD
from tests.pipeline_rows import PLACE, at, table


def window(queue_id, lag, **fields):
    values = {"kind": "normal", "time_lag_seconds": 0.0 if lag == 0 else 30.0, "consume_rate": 2.0, "produce_rate": 3.0}
    values |= {"time_lag_kind": "exact" if lag == 0 else "interpolated", "readings": 4, "step_seconds": 60}
    return {**PLACE, "start": at(0), "lag_messages": lag, **values, "queue_id": queue_id, **fields}


UNKNOWN = {"time_lag_seconds": None, "time_lag_kind": "unknown", "consume_rate": None, "produce_rate": None}


@pytest.mark.parametrize(
    ("windows", "expected", "why"),
    [
        ([window(0, 5), window(1, 0)], (5, 30.0, 4.0, None), "all known"),
        (
            [window(0, 5), window(1, None, unknown_reason="ahead", **UNKNOWN)],
            (None, None, None, "ahead"),
            "one unknown",
        ),
        (
            [window(0, 5), window(1, None, unknown_reason="never_committed", **UNKNOWN)],
            (5, 30.0, 2.0, None),
            "never committed is no lag",
        ),
        (
            [window(0, None, unknown_reason="never_committed", **UNKNOWN)],
            (None, None, None, "never_committed"),
            "nothing known",
        ),
        (
            [window(0, 5), window(1, 7, kind="retry", time_lag_seconds=900.0)],
            (12, 900.0, 2.0, None),
            "with retries, which wait from when they were due",
        ),
        (
            [window(0, 5), window(1, 7, time_lag_kind="at_least")],
            (12, None, 4.0, "time_lag_at_least"),
            "at least is not a number",
        ),
        (
            [window(0, 5), window(1, 7, time_lag_kind="unknown", time_lag_seconds=None)],
            (12, None, 4.0, "time_lag_unknown"),
            "a time lag is missing",
        ),
        ([window(0, 5), window(1, 5, consume_rate=None)], (10, 30.0, None, None), "a rate is missing"),
    ],
)
def test_it_sums(windows, expected, why):
    (row,) = group_windows(table("windows_60", windows), UNREAD.empty_table()).to_pylist()
    names = ("lag_messages", "time_lag_seconds", "consume_rate", "unknown_reason")
    assert tuple(row[name] for name in names) == expected, why


def test_a_broker_that_was_not_read_makes_all_unknown():
    unread = pa.Table.from_pylist([{"cluster": "prod", "group": "billing", "start": at(0)}], UNREAD)
    (row,) = group_windows(table("windows_60", [window(0, 5)]), unread).to_pylist()
    assert (row["lag_messages"], row["consume_rate"]) == (None, None)
    assert row["unknown_reason"] == "broker_unread"
