"""When the first unconsumed message may be deleted, where it is known how long its broker keeps messages."""

import numpy as np
import pyarrow as pa
import pytest

from consumers.pipeline.kernel.columns import Columns, beside
from consumers.pipeline.kernel.trend import expires_in, expires_unconsumed
from consumers.pipeline.known import RETENTION, retention
from tests.world import a_broker, a_cluster

HOUR = 3600.0
KEPT = [{"cluster": "prod", "broker": "broker-a", "reserved_seconds": 72 * HOUR}]


@pytest.mark.parametrize(
    ("reserved", "time_lag", "expected", "why"),
    [
        (72 * HOUR, 1 * HOUR, 71 * HOUR, "an hour of three days is over"),
        (72 * HOUR, 90 * HOUR, 0.0, "it may be deleted at any time"),
        (72 * HOUR, None, None, "how old it is is not known"),
        (None, 1 * HOUR, None, "its broker has not said how long it keeps messages"),
    ],
)
def test_it_expires(reserved, time_lag, expected, why):
    values = [np.array([np.nan if value is None else value]) for value in (reserved, time_lag)]
    (found,) = expires_in(*values).tolist()
    assert (None if np.isnan(found) else found) == expected, why


@pytest.mark.parametrize(
    ("lag", "time_lag", "expires", "slope", "expected", "why"),
    [
        (10, HOUR, 71 * HOUR, 1.0, 71 * HOUR, "nothing is consumed: it grows older as time goes by"),
        (10, HOUR, 6 * HOUR, 0.5, 12 * HOUR, "half of what is produced is consumed"),
        (10, HOUR, 6 * HOUR, 2.0, 6 * HOUR, "no message grows older faster than time goes by"),
        (10, HOUR, 6 * HOUR, 0.0, np.inf, "the time lag stays: what waits is consumed at the same age"),
        (10, HOUR, 6 * HOUR, -0.5, np.inf, "it drains"),
        (10, HOUR, 6 * HOUR, 0.001, np.inf, "more than a month is too far to tell"),
        (10, HOUR, 0.0, None, 0.0, "it may be deleted already, at whatever pace"),
        (10, HOUR, 6 * HOUR, None, None, "its pace is not known"),
        (10, HOUR, None, 0.5, None, "its retention is not known"),
        (10, None, None, None, None, "its age is not known"),
        (10, 30.0, None, None, np.inf, "it is within its threshold"),
        (0, 0.0, None, None, np.inf, "nothing waits"),
    ],
)
def test_it_expires_unconsumed_when_the_time_lag_reaches_the_retention(lag, time_lag, expires, slope, expected, why):
    values = {"lag_messages": float(lag), "time_lag_seconds": time_lag, "allowance_seconds": 60.0, "consume_rate": 2.0}
    columns = Columns(pa.Table.from_pylist([values], pa.schema([(name, pa.float64()) for name in values])))
    given = [np.array([np.nan if value is None else value]) for value in (expires, slope)]
    (found,) = expires_unconsumed(columns, *given).tolist()
    assert (None if np.isnan(found) else found) == expected, why


@pytest.mark.parametrize(
    ("lag", "consume_rate", "expected"),
    [(10, 0.0, 6 * HOUR), (10, 0.5, 7.5 * HOUR), (10, None, 7.5 * HOUR), (0, 0.0, np.inf), (None, 0.0, 7.5 * HOUR)],
)
def test_the_oldest_message_of_a_queue_that_consumes_nothing_ages_as_time_goes_by(lag, consume_rate, expected):
    values = {"lag_messages": lag, "time_lag_seconds": HOUR, "allowance_seconds": 60.0, "consume_rate": consume_rate}
    columns = Columns(pa.Table.from_pylist([values], pa.schema([(name, pa.float64()) for name in values])))
    assert expires_unconsumed(columns, np.array([6 * HOUR]), np.array([0.8])).tolist() == [expected]


def test_each_queue_is_given_the_time_that_its_own_broker_keeps_messages():
    names = ("cluster", "broker")
    queues = [("prod", "broker-a"), ("prod", "broker-b"), ("other", "broker-a")]
    rows = pa.Table.from_pylist([dict(zip(names, queue, strict=True)) for queue in queues])
    found = beside(rows, pa.Table.from_pylist(KEPT, RETENTION), names).to_pylist()
    assert [row["reserved_seconds"] for row in found] == [72 * HOUR, None, None]


@pytest.mark.django_db
def test_brokers_that_have_not_said_are_left_out():
    cluster = a_cluster(read_at=None)
    a_broker(cluster, file_reserved_hours=48)
    a_broker(cluster, broker_id=1, file_reserved_hours=24)
    a_broker(cluster, "broker-b")
    assert retention(["prod"]).to_pylist() == [
        {"cluster": "prod", "broker": "broker-a", "reserved_seconds": 48 * 3600.0}
    ]
