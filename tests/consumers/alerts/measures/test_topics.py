"""Groups' parts of one topic."""

import pytest

from consumers.alerts.measured import Table
from consumers.models import Cluster, ConsumerGroup, Measure, ResetKind, SubjectKind
from tests.alert_rows import a_note
from tests.consumers.alerts.measures.group_rows import everything
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import (
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
    first_stored,
)

pytestmark = pytest.mark.django_db
DETAIL = {"still_seconds": 720, "lag_messages": 8}


@pytest.fixture
def cluster() -> Cluster:
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster, "broker-b")
    return cluster


def a_consumer(cluster: Cluster, name: str = "billing", **fields: object) -> ConsumerGroup:
    group = a_group(cluster, name, **fields)
    a_total(group, 20)
    a_judged_group(group, "STALL", time_lag_seconds=900.0)
    return group


def a_part(group: ConsumerGroup, topic: str, lag: int, state: str = "OK", queue_id: int = 0, **fields: object) -> None:
    queue = a_queue(group.cluster, topic, queue_id)
    a_snapshot(group, queue, 10, 10 + lag)
    a_judged_queue(group, queue, state, **({"time_lag_seconds": 30.0 if lag else 0.0} | fields))


def orders() -> Table:
    return everything("Orders").topics["Orders"]


def test_only_the_queues_of_the_topic_count(cluster: Cluster) -> None:
    group = a_consumer(cluster)
    a_part(group, "Orders", 3)
    a_part(group, "Orders", 5, "STALL", 1, rule="blocked", detail=DETAIL, since=ago(720), time_lag_seconds=90.0)
    a_part(group, "Refunds", 12, "LOSS", time_lag_seconds=900.0)
    table = orders()
    [subject] = table.subjects
    assert (subject.kind, subject.group, subject.topic) == (SubjectKind.TOPIC, "billing", "Orders")
    values = {measure: table.columns[measure].values for measure in (Measure.LAG, Measure.TIME_LAG, Measure.STATE)}
    assert values == {Measure.LAG: [8], Measure.TIME_LAG: [90.0], Measure.STATE: ["STALL"]}
    state = table.columns[Measure.STATE]
    assert state.since(0) == ago(720)
    assert state.evidence(0) == ("blocked · queue 1 of Orders on broker-a: no commit for 12 min, lag 8 messages")


def test_a_group_without_offsets_of_the_topic_is_not_looked_at(cluster: Cluster) -> None:
    a_part(a_consumer(cluster), "Refunds", 1)
    a_part(a_consumer(cluster, "shop"), "Orders", 1)
    assert [subject.group for subject in orders().subjects] == ["shop"]


def test_a_topic_that_the_group_has_retired_is_not_looked_at(cluster: Cluster) -> None:
    group = a_consumer(cluster, unsubscribed={"Orders": ago(700).isoformat()})
    a_part(group, "Orders", 1)
    assert orders().subjects == []
    ConsumerGroup.objects.update(unsubscribed={"Orders": ago(500).isoformat()})
    assert len(orders().subjects) == 1


def test_one_queue_that_is_not_known_leaves_the_lag_of_the_topic_unknown(cluster: Cluster) -> None:
    group = a_consumer(cluster)
    a_part(group, "Orders", 3)
    a_snapshot(group, a_queue(cluster, "Orders", 1), 20, 10)
    lag = orders().columns[Measure.LAG]
    assert (lag.values, lag.reason(0)) == ([None], "the consumer offset is ahead of the broker offset")


def test_a_group_that_keeps_its_progress_elsewhere_has_no_lag_of_the_topic(cluster: Cluster) -> None:
    a_part(a_consumer(cluster, outside_store="com.example.Store"), "Orders", 3)
    lag = orders().columns[Measure.LAG]
    assert (lag.values, lag.reason(0)) == ([None], "com.example.Store stores its offsets, not the brokers")


def test_a_queue_that_was_never_committed_leaves_the_sum_whole(cluster: Cluster) -> None:
    group = a_consumer(cluster)
    a_part(group, "Orders", 3)
    a_snapshot(group, a_queue(cluster, "Orders", 1), None, 10, unknown_reason="never_committed")
    assert orders().columns[Measure.LAG].values == [3]


def test_a_queue_on_a_broker_that_is_dead_leaves_all_of_the_topic_unknown(cluster: Cluster) -> None:
    group = a_consumer(cluster)
    a_part(group, "Orders", 3)
    dead = a_queue(cluster, "Orders", 1, broker="broker-b")
    a_snapshot(group, dead, 10, 10)
    a_judged_queue(group, dead)
    table = orders()
    for measure in (Measure.LAG, Measure.TIME_LAG, Measure.STATE):
        column = table.columns[measure]
        assert (column.values, column.reason(0)) == ([None], "broker-b could not be read: connection refused"), measure


def test_a_dead_broker_that_holds_nothing_of_the_topic_leaves_it_known(cluster: Cluster) -> None:
    group = a_consumer(cluster)
    a_part(group, "Orders", 3)
    a_snapshot(group, a_queue(cluster, "Refunds", broker="broker-b"), 10, 10)
    assert [orders().columns[measure].values for measure in (Measure.LAG, Measure.STATE)] == [[3], ["OK"]]


def test_an_offset_of_the_topic_that_somebody_set_from_here_is_spared(cluster: Cluster) -> None:
    group = a_consumer(cluster)
    a_part(group, "Orders", 3, "REWIND", rule="offset_went_back", since=ago(30))
    assert orders().columns[Measure.STATE].suppressed(0) is None
    reset = a_reset(group, kind=ResetKind.EARLIEST, status="done")
    a_reset_queue(reset, before=90, target=10, written_at=ago(40), outcome="confirmed")
    assert (orders().columns[Measure.STATE].suppressed(0) or "").startswith("reset by")


def test_notes_give_a_part_the_labels_of_its_group(cluster: Cluster) -> None:
    a_part(a_consumer(cluster), "Orders", 3)
    a_note("bill*")
    found = everything("Orders")
    assert [table.labels for table in (found.groups, found.topics["Orders"])] == [[{"team": "payments"}]] * 2


@pytest.mark.parametrize(
    ("polled", "seconds"), [({"first_stored_us": None}, None), (first_stored(12), 7.0), (first_stored(3), None)]
)
def test_a_lag_that_is_newer_than_the_evaluation_has_the_time_lag_that_polls_tell(
    cluster: Cluster, polled: dict[str, int | None], seconds: float | None
) -> None:
    group = a_consumer(cluster)
    a_part(group, "Orders", 3, time_lag_seconds=0.0)
    group.snapshots.update(**polled)
    assert orders().columns[Measure.TIME_LAG].values[0] == seconds


def test_on_a_broker_that_is_behind_with_its_dispatch_a_lag_passes_a_condition_and_fails_none(cluster: Cluster) -> None:
    cluster.brokers.filter(name="broker-a").update(dispatch_behind_bytes=64 * 2**20)
    a_part(a_consumer(cluster), "Orders", 3)
    lag = orders().columns[Measure.LAG]
    assert (lag.values[0], lag.is_bound(0)) == (3, True)
    assert lag.reason(0) == "broker-a has stored 67 MB that it has not dispatched: its lags are lower bounds"


def test_no_lag_on_such_a_broker_is_no_time_lag_of_zero(cluster: Cluster) -> None:
    cluster.brokers.filter(name="broker-a").update(dispatch_behind_bytes=64 * 2**20)
    a_part(a_consumer(cluster), "Orders", 0)
    assert orders().columns[Measure.TIME_LAG].values[0] is None
