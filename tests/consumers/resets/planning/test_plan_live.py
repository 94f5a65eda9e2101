"""Plans for a real broker: they say what is so, and leave it so."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from consumers.jobs.hold import Ports
from consumers.models import Cluster, ConsumerGroup, Reset, ResetKind, ResetQueue, ResetStatus
from consumers.polling.registration import Wire
from consumers.resets.planning.gather import gather, known_of
from consumers.resets.planning.run import make_plan
from consumers.resets.target_values import QueueKey
from consumers.words.reasons import stored_words
from dashboard.demo.cluster import RocketMQ
from tests.broker_state import state, wait_until_delivered
from tests.plugins.java_admin import JavaAdmin
from tests.world import a_group, a_queue, a_snapshot

pytestmark = [pytest.mark.live, pytest.mark.django_db]

TOPIC, GROUP, POPPERS = "plan_orders", "plan_billing", "plan_poppers"
# Queue 0 of the topic holds eight messages, of which the group committed five; queue 1 two, and no commit.
HELD, COMMITTED = 8, 5


@pytest.fixture
def ports(rocketmq: RocketMQ) -> Iterator[Ports]:
    wire = Wire()
    addresses = {name: broker.address for name, broker in rocketmq.brokers.items()}
    yield Ports(wire, addresses, [rocketmq.namesrv])
    wire.close()


@pytest.fixture(scope="module")
def filled(java_admin: JavaAdmin) -> None:
    java_admin.create_topic(TOPIC, 2)
    java_admin.send(TOPIC, "broker-a", 0, HELD)
    java_admin.send(TOPIC, "broker-a", 1, 2)
    for name in (GROUP, POPPERS):
        java_admin.create_group(name)
        java_admin.set_offset(name, TOPIC, "broker-a", 0, COMMITTED)
    java_admin.let_pop(POPPERS, TOPIC)


@pytest.fixture
def cluster(rocketmq: RocketMQ, filled: None) -> Cluster:
    return Cluster.objects.create(name="plans", namesrv=rocketmq.namesrv, created_at=timezone.now())


def a_plan(ports: Ports, cluster: Cluster, name: str, kind: ResetKind, value: Any) -> Reset:
    group = ConsumerGroup.objects.filter(name=name).first() or a_group(cluster, name)
    a_snapshot(group, a_queue(cluster, TOPIC), COMMITTED, HELD)
    reset = Reset.objects.create(
        group=group,
        cluster_name=cluster.name,
        group_name=name,
        by_name="ann",
        reason="a try",
        kind=kind,
        value=value,
        status=ResetStatus.PLANNING,
        created_at=timezone.now(),
    )
    make_plan(reset.pk, ports, timezone.now)
    reset.refresh_from_db()
    group.snapshots.all().delete()
    return reset


def test_plans_say_what_is_so_and_leave_it_so(ports: Ports, cluster: Cluster, java_admin: JavaAdmin) -> None:
    wait_until_delivered(java_admin)
    before = state(java_admin)
    long_ago = datetime.now(UTC) - timedelta(days=1)
    for kind, value, targets in [
        (ResetKind.EARLIEST, None, [0, 0]),
        (ResetKind.LATEST, None, [HELD, 2]),
        (ResetKind.TIME, long_ago.isoformat(), [0, 0]),
        (ResetKind.SHIFT, -2, [COMMITTED - 2, None]),
        (ResetKind.SKIP_OLDER, 86_400.0, [None, 0]),
    ]:
        reset = a_plan(ports, cluster, GROUP, kind, value)
        assert (reset.status, stored_words(reset.error)) == (ResetStatus.PLANNED, None)
        rows = list(ResetQueue.objects.filter(reset=reset))
        moved = [row.target if row.method == "server_side" else None for row in rows]
        assert moved == targets, kind
        assert [(row.now_offset, row.max_offset) for row in rows] == [(COMMITTED, HELD), (None, 2)]
    assert state(java_admin) == before


def test_the_first_message_of_a_replay_has_its_store_time(
    ports: Ports, cluster: Cluster, java_admin: JavaAdmin
) -> None:
    row = ResetQueue.objects.filter(reset=a_plan(ports, cluster, GROUP, ResetKind.SHIFT, -2)).first()
    assert row is not None
    assert row.target_time is not None
    stored = java_admin.stored_messages(TOPIC, "broker-a", 0, COMMITTED - 2)[0]
    assert row.target_time.timestamp() * 1000 == pytest.approx(stored["stored_ms"], abs=1)


def test_what_a_real_broker_tells_of_a_group_that_pops(ports: Ports, cluster: Cluster) -> None:
    group = a_group(cluster, POPPERS)
    keys, known = [QueueKey(TOPIC, "broker-a", 0)], known_of(group)
    facts = ports.wire.run(gather(ports, POPPERS, keys, known, timezone.now()))
    assert facts.pop_topics == {TOPIC}
    assert (facts.members, facts.brokers["broker-a"].version) == ((), "V5_4_0")
    assert (facts.brokers["broker-a"].server_side, facts.brokers["broker-a"].permission) == (True, 6)
