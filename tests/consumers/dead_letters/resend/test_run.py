"""What ends or breaks off a re-send before anything is sent."""

from dataclasses import replace
from typing import Any

import pytest

from consumers.dead_letters.resend.run import run, work
from consumers.jobs.hold import LEAST_STALE, close_wires
from consumers.models import Cluster, ResendOutcome, ResendStatus
from consumers.polling.registration import Wire, WireClosed
from consumers.vocabulary.reasons import ReasonCode, ResendCause, stored_reason
from tests.consumers.dead_letters.resend.conftest import Site, an_item, outcomes
from tests.fake_clock import FakeClock
from tests.world import ago


def test_one_that_runs_ends_once_its_cluster_is_read_only(site: Site, clock: FakeClock, settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["*"]
    resend = site.running(site.died(2))
    an_item(resend, 7, ResendOutcome.SENDING, target_topic=site.retry)
    run(resend.pk, clock, clock.pause)
    resend.refresh_from_db()
    assert site.broker.keys(site.retry) == []
    assert outcomes(resend) == [ResendOutcome.CANCELLED, ResendOutcome.CANCELLED, ResendOutcome.UNKNOWN]
    # Whether one arrived is not known.
    assert resend.status == ResendStatus.PARTIAL
    # Whoever reads it does so in a language of their own.
    assert resend.error == stored_reason(ReasonCode.CLUSTER_READ_ONLY, cluster="prod")


def test_a_closed_wire_fails_no_message_and_whoever_goes_on_sends_each_once(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(3))
    closed = Wire()
    closed.close()
    with pytest.raises(WireClosed):
        work(resend.pk, replace(site.ports, wire=closed), clock, clock.pause)
    assert (outcomes(resend), site.broker.keys(site.retry)) == ([ResendOutcome.PLANNED] * 3, [])
    clock.pass_by(LEAST_STALE.total_seconds() + 1)
    work(resend.pk, site.ports, clock, clock.pause)
    assert (outcomes(resend), len(site.broker.keys(site.retry))) == ([ResendOutcome.SENT] * 3, 3)


def test_a_closed_wire_says_nothing_of_what_was_being_sent(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(1))
    item = resend.items.get()
    item.outcome, item.at, item.floor_offset = ResendOutcome.SENDING, clock(), 0
    item.target_broker, item.target_queue_id = next(iter(site.ports.addresses)), 0
    item.save()
    closed = Wire()
    closed.close()
    clock.pass_by(3600)
    with pytest.raises(WireClosed):
        work(resend.pk, replace(site.ports, wire=closed), clock, clock.pause)
    assert outcomes(resend) == [ResendOutcome.SENDING]


@pytest.mark.parametrize(("started", "worked", "is_late"), [(301, None, True), (299, None, False), (900, 400, False)])
def test_one_that_no_worker_takes_up_sends_nothing_once_one_is_back(
    site: Site, clock: FakeClock, started: int, worked: int | None, is_late: bool
) -> None:
    Cluster.objects.update(namesrv=site.broker.address)
    resend = site.running(site.died(1))
    resend.started_at, resend.working_at = ago(started), None if worked is None else ago(worked)
    resend.save()
    try:
        run(resend.pk, clock, clock.pause)
    finally:
        close_wires()
    resend.refresh_from_db()
    assert (site.broker.keys(site.retry) == []) == is_late
    assert (resend.error == stored_reason(ResendCause.NO_WORKER)) == is_late
