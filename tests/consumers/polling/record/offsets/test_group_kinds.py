"""Which queues of which groups are left out of sums, as the rows tell."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from consumers.lake.store import Lake
from consumers.models import QueueSnapshot
from consumers.polling.kind_limits import KindLimits
from consumers.polling.record.recorder import Recorder
from consumers.polling.record.totals import GroupKinds
from tests.readings import broker, reading, row
from tests.world import NOW, a_cluster, a_group, a_queue, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster():
    return a_cluster(read_at=None)


def kinds_of(cluster):
    return GroupKinds.of(cluster, NOW, KindLimits())


def test_every_queue_of_a_retired_topic_is_left_out_for_its_group_alone(cluster):
    since = ago(700).isoformat()
    both = [a_group(cluster, name, unsubscribed={"Old": since}) for name in ("billing", "shipping")]
    a_group(cluster, "audit")
    queues = [a_queue(cluster, "Old", number, broker=name) for number in (0, 1) for name in ("broker-a", "broker-b")]
    a_queue(cluster, "Orders")
    expected = {group.pk << 32 | queue.pk for group in both for queue in queues}
    assert set(kinds_of(cluster).retired.tolist()) == expected


def test_a_topic_of_another_cluster_is_not_meant(cluster):
    a_group(cluster, unsubscribed={"Old": ago(700).isoformat()})
    a_queue(a_cluster("other", read_at=None), "Old")
    assert kinds_of(cluster).retired.tolist() == []


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"unsubscribed": {"Old": ago(60).isoformat()}}, "young"),
        ({"online": False}, "offline"),
        ({"online": None}, "?"),
    ],
)
def test_what_is_not_retired_stays(cluster, fields, why):
    a_group(cluster, **{"unsubscribed": {"Old": ago(700).isoformat()}, **fields})
    a_queue(cluster, "Old")
    assert np.array_equal(kinds_of(cluster).retired, []), why


def test_a_group_with_a_store_of_its_own_is_named(cluster):
    group = a_group(cluster, outside_store="com.acme.RedisOffsetStore")
    a_group(cluster, "shipping")
    assert kinds_of(cluster).outside == {(group.pk, "billing")}


def test_its_offsets_on_the_brokers_are_marked_as_no_progress(cluster, tmp_path):
    a_group(cluster, outside_store="com.acme.RedisOffsetStore")
    rows = row("billing", "Orders", 0, 7, 10), row("shipping", "Orders", 0, 7, 10)
    Recorder.of(cluster).record(reading(0, broker("broker-a", *rows)), None, Lake.at(str(tmp_path)))
    reason = "outside_store"
    assert dict(QueueSnapshot.objects.values_list("group__name", "unknown_reason")) == {
        "billing": reason,
        "shipping": None,
    }
    (file,) = tmp_path.rglob("*.parquet")
    stored = pq.read_table(file, partitioning=None).to_pylist()
    assert {one["group"]: one["unknown_reason"] for one in stored} == {"billing": reason, "shipping": None}
