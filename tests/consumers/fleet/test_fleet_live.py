"""A fleet of real members on a real broker: every change is told once, by its cause, and nothing else is told."""

import contextlib
import os
from datetime import timedelta

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup, Rebalance
from consumers.ownership.findings import findings
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import run
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.vocabulary.findings import FindingCode
from tests.consumers.fleet.changes import Crew
from tests.consumers.fleet.live_fleet import POLL_SECONDS, LiveFleet
from tests.consumers.fleet.score import said, score_events, score_findings
from tests.consumers.fleet.scripts import SCRIPTS
from tests.plugins.fleet import FleetProcess

# Ten minutes show more: FLEET_QUIET_SECONDS=600.
QUIET_SECONDS = float(os.environ.get("FLEET_QUIET_SECONDS", "10"))

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1200 + QUIET_SECONDS),
]


@pytest.fixture
def crew(rocketmq, rocketmq_jars, java_admin):
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(FleetProcess(rocketmq, rocketmq_jars, f"fleet-{name}"))
            for name in ("staying", "killed", "killed-in-order", "twin")
        ]
        for script in SCRIPTS:
            java_admin.create_topic(script.topic, script.queues)
        yield Crew(java_admin, *processes)


@pytest.fixture
def poller(rocketmq, tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    cluster = Cluster.objects.create(name="fleet", namesrv=rocketmq.namesrv, created_at=timezone.now())
    lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(1000, 1000), 5.0, lake, 0))
    yield poller
    poller.close()


def test_every_change_is_told_once_and_nothing_else_is(crew, poller, spark, settings, capsys):
    fleet = LiveFleet(poller, crew, SCRIPTS)
    fleet.begin()
    fleet.run()
    fleet.watch(QUIET_SECONDS)

    since, until = fleet.readings[0], fleet.readings[-1] + timedelta(seconds=1)
    run(spark, poller.settings.lake, ["fleet"], since, until, Durations.of(settings.JUDGE, POLL_SECONDS))
    groups = {script.group for script in SCRIPTS}
    rows = Rebalance.objects.filter(group__name__in=groups).select_related("group")
    events = score_events(fleet.made, list(rows))
    # That a group is still settling is no finding of something wrong.
    kinds = {
        group.name: {one.code for one in findings(group, now=fleet.readings[-1]) if one.code != FindingCode.SETTLING}
        for group in ConsumerGroup.objects.filter(name__in=groups)
    }
    found = score_findings({script.group: set(script.findings) for script in SCRIPTS}, kinds)

    with capsys.disabled():
        print(f"\n{len(fleet.readings)} readings in {(until - since).total_seconds():.0f} s")
        print(f"{fleet.compared} holdings compared with what members said of themselves, {len(fleet.differing)} differ")
        for event in sorted(rows, key=lambda event: (event.group.name, event.started_before)):
            print(f"  {event.group.name}: {said(event)}")
        print("\n".join([events.line("events"), *events.wrong, found.line("findings"), *found.wrong, *fleet.differing]))
    assert fleet.compared > 100
    assert fleet.differing == []
    assert (events.wrong, events.precision, events.recall) == ([], 1.0, 1.0)
    assert (found.wrong, found.precision, found.recall) == ([], 1.0, 1.0)
