from collections.abc import Callable, Iterator
from typing import Any

import pytest

from consumers.jobs.hold import Ports
from consumers.models import ConsumerGroup, Reset, ResetKind, ResetStatus
from consumers.polling.registration import Wire
from consumers.resets.planning.run import make_plan
from tests.reset_cluster import FakeCluster, a_fake_cluster
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot

Planner = Callable[..., Reset]
BROKERS = ("broker-a", "broker-b")


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    """Two queues of Orders on each master, which hold offsets 10 to 99; `billing` stands at 50 in each."""
    with a_fake_cluster() as cluster:
        for master in cluster.masters.values():
            for queue_id in range(2):
                master.ends["Orders", queue_id] = (10, 100)
                master.offsets["billing", "Orders", queue_id] = 50
        yield cluster


@pytest.fixture
def group(db: None, fake: FakeCluster) -> ConsumerGroup:
    cluster = a_cluster()
    group = a_group(cluster)
    for broker in BROKERS:
        a_broker(cluster, broker, address=fake.masters[broker].address)
        for queue_id in range(2):
            a_snapshot(group, a_queue(cluster, queue_id=queue_id, broker=broker), 50, 100)
    return group


@pytest.fixture
def wire() -> Iterator[Wire]:
    wire = Wire()
    yield wire
    wire.close()


@pytest.fixture
def ports(fake: FakeCluster, wire: Wire) -> Ports:
    addresses = {name: master.address for name, master in fake.masters.items()}
    return Ports(wire, addresses, [fake.namesrv], 0.5)


@pytest.fixture
def plan(group: ConsumerGroup, ports: Ports) -> Planner:
    """Plans a reset of `billing` and gives it as it stands then."""

    def planned(kind: ResetKind, value: Any = None, **fields: Any) -> Reset:
        reset = Reset.objects.create(
            group=group,
            cluster_name=group.cluster.name,
            group_name=group.name,
            by_name="ann",
            reason="a try",
            kind=kind,
            value=value,
            status=ResetStatus.PLANNING,
            created_at=NOW,
            **fields,
        )
        make_plan(reset.pk, ports, lambda: NOW)
        reset.refresh_from_db()
        return reset

    return planned
