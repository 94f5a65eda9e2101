"""What the worker does with a reset that is to be planned."""

import threading
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from consumers.jobs.hold import Ports, close_wires
from consumers.models import ConsumerGroup, Reset, ResetEvent, ResetKind, ResetStatus
from consumers.resets.planning.run import make_plan, run_plan
from consumers.resets.request import refuse_forgotten
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ResetAct
from consumers.words.reasons import stored_words
from tests.fake_clock import FakeClock
from tests.reset_cluster import FakeCluster
from tests.world import NOW, a_group


def a_reset(group: ConsumerGroup, **fields: Any) -> Reset:
    names = {"cluster_name": "prod", "group_name": "billing", "by_name": "ann", "reason": "a try"}
    values = {"kind": ResetKind.EARLIEST, "status": ResetStatus.PLANNING, "created_at": NOW}
    return Reset.objects.create(group=group, **names, **(values | fields))


def planned(reset: Reset) -> Reset:
    try:
        run_plan(reset.pk, lambda: NOW)
    finally:
        close_wires()
    reset.refresh_from_db()
    return reset


def test_it_is_planned_with_the_clusters_own_connections(group: ConsumerGroup, fake: FakeCluster) -> None:
    group.cluster.namesrv = fake.namesrv
    group.cluster.save()
    reset = planned(a_reset(group))
    assert (reset.status, stored_words(reset.error), reset.queues_of_it.count()) == (ResetStatus.PLANNED, None, 4)
    assert reset.working_at is None
    assert list(ResetEvent.objects.filter(reset=reset).values_list("via", "sentence")) == [
        ("worker", stored_reason(ResetAct.PLANNED, planned_queues=4))
    ]


def test_proxies_are_asked_for_members_too(group: ConsumerGroup, fake: FakeCluster) -> None:
    group.cluster.namesrv = fake.namesrv
    # What answers as a proxy here is a master whose members only it knows.
    group.cluster.proxy = fake.masters["broker-b"].address
    group.cluster.save()
    group.cluster.brokers.filter(name="broker-b").delete()
    fake.masters["broker-b"].members["billing"] = ["10.0.0.9@3"]
    reset = planned(a_reset(group, brokers=["broker-a"]))
    assert reset.seen is not None
    assert reset.seen["members"] == ["10.0.0.9@3"]


def test_a_cluster_that_cannot_be_connected_to_is_said_to_be_so(group: ConsumerGroup, fake: FakeCluster) -> None:
    group.cluster.access_key, group.cluster.sealed_secret = "reader", "not sealed by this site"
    group.cluster.save()
    reset = planned(a_reset(group))
    assert reset.status == ResetStatus.REFUSED
    assert stored_words(reset.error) is not None
    assert "secret" in stored_words(reset.error)


def test_a_group_that_is_gone_is_said_to_be_so(group: ConsumerGroup) -> None:
    reset = a_reset(group)
    group.delete()
    assert stored_words(planned(reset).error) == "The group billing no longer exists."


def test_a_worker_that_was_taken_for_dead_writes_nothing(group: ConsumerGroup, ports: Ports) -> None:
    reset = a_reset(group)
    times = iter([NOW, NOW])

    def clock() -> datetime:
        """From its third look at the clock on, another worker has the reset."""
        if (time := next(times, None)) is None:
            Reset.objects.filter(pk=reset.pk).update(working_at=NOW + timedelta(seconds=40))
            return NOW + timedelta(seconds=41)
        return time

    make_plan(reset.pk, ports, clock)
    reset.refresh_from_db()
    assert (reset.status, reset.queues_of_it.count()) == (ResetStatus.PLANNING, 0)


@pytest.mark.parametrize("status", [ResetStatus.REFUSED, ResetStatus.PLANNED, ResetStatus.APPLIED])
def test_one_that_is_planned_or_given_up_is_left_alone(
    group: ConsumerGroup, fake: FakeCluster, status: ResetStatus
) -> None:
    assert planned(a_reset(group, status=status)).status == status
    assert not fake.asked()


@pytest.mark.parametrize(
    ("kind", "value", "awaits_of"), [(ResetKind.EARLIEST, None, None), (ResetKind.COPY, "shipping", "shipping")]
)
def test_a_plan_that_takes_long_shows_that_its_worker_lives(
    group: ConsumerGroup, fake: FakeCluster, ports: Ports, kind: ResetKind, value: str | None, awaits_of: str | None
) -> None:
    """Beat refuses what no worker was seen to work on for a minute; ten thousand queues far away take longer."""
    a_group(group.cluster, "shipping")
    reset, clock, beaten = a_reset(group, kind=kind, value=value), FakeClock(), threading.Event()
    for master in fake.masters.values():
        master.offsets |= {("shipping", "Orders", queue_id): 20 for queue_id in range(2)}
    fake.masters["broker-b"].awaits, fake.masters["broker-b"].awaits_of = beaten, awaits_of

    def read() -> datetime:
        if clock.readings > 12:
            beaten.set()
        clock.pass_by(20)
        refuse_forgotten(clock.at)
        return clock()

    make_plan(reset.pk, replace(ports, deadline_seconds=5.0), read, beat_seconds=0.01)
    reset.refresh_from_db()
    assert (reset.status, stored_words(reset.error)) == (ResetStatus.PLANNED, None)
    assert reset.queues_of_it.filter(left_out=None).count() == 4
