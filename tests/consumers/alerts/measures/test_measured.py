"""What an evaluation looks at: only what rules need, of user groups and what they depend on."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.alerts.measures.registry import measured
from consumers.models import AlertRule, ConsumerGroup, Measure, PipelineRun
from tests.alert_rows import a_rule
from tests.consumers.alerts.measures.group_rows import everything
from tests.consumers.ownership.shared_group import a_member, holds, some_queues
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
NUMBERS = [measure for measure in Measure if measure != Measure.STATE]


def test_it_holds_only_columns_that_an_enabled_rule_needs() -> None:
    a_rule("Behind")
    a_rule("Blocked", measure="blocked_seconds", enabled=False)
    a_rule("Broker", measure="broker_unread_seconds")
    found = measured(NOW, list(AlertRule.objects.all()))
    assert (list(found.groups.columns), list(found.brokers.columns)) == ([Measure.TIME_LAG], [Measure.BROKER_UNREAD])


def test_every_measure_has_its_column_of_every_subject() -> None:
    cluster = a_cluster()
    a_broker(cluster)
    a_total(group := a_group(cluster), 5)
    a_judged_group(group)
    rules = [a_rule(measure, measure=measure) for measure in NUMBERS]
    rules.append(a_rule("state", measure="state", comparison="in", threshold=None, states=["STALL"]))
    found = measured(NOW, rules)
    tables = (found.groups, found.brokers, found.clusters, found.site)
    keys = {key for table in tables for key in table.columns}
    assert {key[0] if isinstance(key, tuple) else key for key in keys} == set(Measure)
    for table in tables:
        assert table.subjects
        for column in table.columns.values():
            assert len(column.values) == len(table.subjects) == len(table.labels)
            for place, value in enumerate(column.values):
                assert column.evidence(place)
                assert value is not None or column.reason(place)


def test_system_groups_and_ghosts_are_not_looked_at() -> None:
    cluster = a_cluster()
    a_group(cluster, "CID_RMQ_SYS_TRANS", kind="system")
    week = ago(8 * 86400)
    a_group(cluster, "left", online=False, members=0, offline_since=week, moved_at=week, first_seen_at=week)
    a_group(cluster, "billing")
    assert [subject.group for subject in measured(NOW, []).groups.subjects] == ["billing"]


def test_a_run_that_failed_or_goes_on_has_judged_nothing() -> None:
    a_cluster()
    PipelineRun.objects.create(since=ago(60), until=ago(30), started_at=ago(30), finished_at=ago(20))
    PipelineRun.objects.create(since=ago(60), until=ago(10), started_at=ago(10))
    PipelineRun.objects.create(since=ago(60), until=ago(5), started_at=ago(5), finished_at=ago(4), error="no memory")
    rule = a_rule(measure="judgement_age_seconds")
    assert measured(NOW, [rule]).site.columns[Measure.JUDGEMENT_AGE].values == [30.0]


def test_ten_times_the_groups_cost_no_query_more() -> None:
    cluster = a_cluster()
    a_broker(cluster)
    counts = []
    for first, groups in ((0, 2), (2, 20)):
        for number in range(first, groups):
            a_total(group := a_group(cluster, f"group-{number}", settled_at=ago(600)), 5)
            a_judged_group(group, "STALL", rule="blocked")
            a_part(group, number)
        with CaptureQueriesContext(connection) as queries:
            found = everything("Orders")
            said = [column.evidence(0) for column in found.groups.columns.values()]
        assert "1 queue consumed by nobody" in said
        assert "1 queue consumed by two members" in said
        counts.append(len(queries))
    assert counts[0] == counts[1]


def a_part(group: ConsumerGroup, number: int) -> None:
    """Of Orders, with a queue of nobody and one of two."""
    for client_id in ("c1", "c2"):
        a_member(group, client_id)
    nobodys, twice = some_queues(group, each=1)
    for queue in (nobodys, twice):
        a_snapshot(group, queue, number, number + 5)
        a_judged_queue(group, queue, "STALL")
    for client_id in ("c1", "c2"):
        holds(group, client_id, [twice])
