"""When the first unconsumed message may be deleted, where it is known how long its broker keeps messages."""

import numpy as np
import pyarrow as pa
import pytest

from consumers.pipeline.kernel.columns import beside
from consumers.pipeline.kernel.trend import expires_in
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
