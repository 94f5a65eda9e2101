"""When the first unconsumed message may be deleted, where it is known how long its broker keeps messages."""

import pyarrow as pa
import pytest

from consumers.pipeline.evidence import with_expiry
from consumers.pipeline.known import RETENTION, retention
from tests.world import a_broker, a_cluster

SCHEMA = "cluster string, broker string, lag_messages bigint, time_lag_seconds double"
KEPT = [{"cluster": "prod", "broker": "broker-a", "reserved_seconds": 72 * 3600.0}]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("queue", "expected", "why"),
    [
        (("prod", "broker-a", 5, 3600.0), 71 * 3600.0, "an hour of three days is over"),
        (("prod", "broker-a", 5, 90 * 3600.0), 0.0, "it may be deleted at any time"),
        (("prod", "broker-a", 0, 0.0), None, "nothing waits"),
        (("prod", "broker-a", 5, None), None, "how old it is is not known"),
        (("prod", "broker-b", 5, 3600.0), None, "its broker has not said how long it keeps messages"),
        (("other", "broker-a", 5, 3600.0), None, "another cluster's broker of the same name"),
    ],
)
def test_it_expires(spark, queue, expected, why):
    kept = spark.createDataFrame(pa.Table.from_pylist(KEPT, RETENTION))
    (row,) = with_expiry(spark.createDataFrame([queue], SCHEMA), kept).toArrow().to_pylist()
    assert row["expires_in_seconds"] == expected, why


@pytest.mark.django_db
def test_brokers_that_have_not_said_are_left_out():
    cluster = a_cluster(read_at=None)
    a_broker(cluster, file_reserved_hours=48)
    a_broker(cluster, broker_id=1, file_reserved_hours=24)
    a_broker(cluster, "broker-b")
    assert retention(["prod"]).to_pylist() == [
        {"cluster": "prod", "broker": "broker-a", "reserved_seconds": 48 * 3600.0}
    ]
