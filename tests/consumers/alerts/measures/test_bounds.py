"""A value of which only a bound is known any more: it goes on to fire, and resolves nothing."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.models import (
    AlertRule,
    Client,
    Cluster,
    GroupState,
    GroupTotal,
    Incident,
    Measure,
    MembershipGap,
    QueueState,
)
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule
from tests.consumers.alerts.measures.group_rows import a_behind_group, a_judged_cluster, column, everything
from tests.consumers.ownership.shared_group import a_member, a_shared_group, holds, some_queues
from tests.health_rows import a_finding, was_checked
from tests.rebalance_rows import a_rebalance, a_repeat, was_watched
from tests.world import NOW, a_judged_queue, a_queue, a_snapshot

pytestmark = pytest.mark.django_db
HOUR = 3600.0


@pytest.fixture(autouse=True)
def no_built_in_rules() -> None:
    AlertRule.objects.all().delete()


@pytest.fixture
def cluster() -> Cluster:
    return a_judged_cluster()


def fires_by(measure: Measure, threshold: float, comparison: str = "above", **fields: Any) -> None:
    said = {"threshold": threshold, "comparison": comparison, "for_seconds": 0, "clear_seconds": 0} | fields
    a_rule("Bound", measure=measure, **said)
    evaluate(NOW, lambda: NOW)
    assert Incident.objects.get().status == "firing"


def what_is_unknown() -> str:
    """The reason, at the next evaluation, of the incident that goes on to fire."""
    evaluate(NOW + timedelta(seconds=15), lambda: NOW)
    incident = Incident.objects.get()
    assert (incident.status, incident.resolved_at) == ("firing", None)
    return stored_words(incident.unknown_reason) or ""


def test_the_time_lag_of_some_queues_resolves_nothing(cluster: Cluster) -> None:
    a_behind_group(cluster, time_lag_seconds=400.0, time_lag_kind="exact")
    fires_by(Measure.TIME_LAG, 300)
    GroupState.objects.update(time_lag_seconds=5.0, time_lag_kind="at_least")
    assert what_is_unknown() == "the time lag of a queue has no known upper bound"


def test_the_time_lag_of_known_queues_resolves_nothing_while_another_is_unknown(cluster: Cluster) -> None:
    a_behind_group(cluster, time_lag_seconds=400.0, time_lag_kind="exact")
    fires_by(Measure.TIME_LAG, 300)
    GroupState.objects.update(time_lag_seconds=5.0)
    GroupTotal.objects.update(lag_messages=None, unknown_reason="consumer_ahead")
    assert "ahead" in what_is_unknown()


def test_a_lower_bound_of_the_time_lag_fires(cluster: Cluster) -> None:
    a_behind_group(cluster, time_lag_seconds=400.0, time_lag_kind="at_least")
    found = column(Measure.TIME_LAG)
    assert (found.values[0], found.is_bound(0)) == (400.0, True)
    fires_by(Measure.TIME_LAG, 300)


def test_a_time_lag_that_is_exact_or_interpolated_is_no_bound(cluster: Cluster) -> None:
    a_behind_group(cluster, time_lag_seconds=400.0, time_lag_kind="interpolated")
    a_behind_group(cluster, 0, name="calm", time_lag_seconds=0.0, time_lag_kind="at_least")
    assert [column(Measure.TIME_LAG).is_bound(place) for place in (0, 1)] == [False, False]


def test_the_time_lag_of_some_queues_of_a_topic_resolves_nothing(cluster: Cluster) -> None:
    group = a_behind_group(cluster)
    queue = a_queue(cluster, "Orders")
    a_snapshot(group, queue, 10, 19)
    a_judged_queue(group, queue, time_lag_seconds=400.0)
    fires_by(Measure.TIME_LAG, 300, topic="Orders")
    QueueState.objects.update(time_lag_seconds=5.0, time_lag_kind="at_least")
    assert what_is_unknown() == "the time lag of a queue has no known upper bound"


def test_where_a_broker_of_the_topic_hides_messages_its_time_lag_is_a_lower_bound(cluster: Cluster) -> None:
    group = a_behind_group(cluster)
    queue = a_queue(cluster, "Orders")
    a_snapshot(group, queue, 10, 19)
    a_judged_queue(group, queue, time_lag_seconds=5.0)
    cluster.brokers.update(dispatch_behind_bytes=64 * 2**20)
    found = everything("Orders").topics["Orders"].columns[Measure.TIME_LAG]
    assert (found.values[0], found.is_bound(0)) == (5.0, True)
    assert "has not dispatched" in found.reason(0)


def test_a_wait_that_is_a_lower_bound_resolves_no_expiry(cluster: Cluster) -> None:
    """Brokers keep messages for 72 hours."""
    group = a_behind_group(cluster, time_lag_seconds=70 * HOUR)
    queue = a_queue(cluster, "Orders")
    a_snapshot(group, queue, 10, 19)
    a_judged_queue(group, queue, time_lag_seconds=70 * HOUR)
    fires_by(Measure.EXPIRY, 4 * HOUR, "below")
    QueueState.objects.update(time_lag_seconds=HOUR, time_lag_kind="at_least")
    GroupState.objects.update(time_lag_seconds=HOUR, time_lag_kind="at_least")
    assert what_is_unknown() == "the time lag of a queue has no known upper bound"


def test_queues_of_two_owners_that_are_left_resolve_nothing_while_a_member_is_silent() -> None:
    group = a_shared_group()
    queues = some_queues(group)
    for queue in queues:
        a_snapshot(group, queue, 1, 1)
    for client_id in ("c1", "c2", "c3"):
        a_member(group, client_id)
    holds(group, "c1", queues[:4])
    holds(group, "c2", queues[:1])
    holds(group, "c3", queues[1:4])
    fires_by(Measure.DOUBLY_OWNED, 2)
    Client.objects.filter(client_id="c3").update(running_info_error="timed out")
    assert what_is_unknown() == "c3 has not reported which queues it owns"


def test_findings_that_are_left_resolve_nothing_while_one_could_not_be_checked(cluster: Cluster) -> None:
    group = a_behind_group(cluster)
    was_checked(group)
    kept = a_finding(group, "dlq_unreadable", params={"brokers": ["broker-a"]})
    a_finding(group, "retries_discarded", params={"brokers": ["broker-a"]})
    fires_by(Measure.FINDINGS, 1, findings=["critical"])
    group.cluster.findings.exclude(pk=kept.pk).delete()
    a_finding(group, "retry_checks_unknown", "unknown", params={"checks": ["retries_discarded"]})
    assert what_is_unknown()


OF_AN_HOUR = [Measure.REBALANCES, Measure.REPEATS, Measure.REDELIVERED]


@pytest.mark.parametrize("measure", OF_AN_HOUR)
def test_what_is_counted_over_an_hour_that_was_read_in_part_is_a_lower_bound(
    cluster: Cluster, measure: Measure
) -> None:
    group = a_behind_group(cluster)
    was_watched(cluster, 600)
    a_rebalance(group)
    a_repeat(group, redelivered_low=7)
    found = column(measure)
    assert (found.values[0], found.is_bound(0)) == (7 if measure == Measure.REDELIVERED else 1, True)
    assert found.evidence(0).endswith(
        "not scraped, members not reported, or not evaluated from 2026-03-14 02:00:00 UTC to 2026-03-14 02:50:00 UTC: "
        "there may be more"
    )


@pytest.mark.parametrize("measure", OF_AN_HOUR)
def test_where_all_of_the_hour_was_watched_it_is_exact(cluster: Cluster, measure: Measure) -> None:
    a_behind_group(cluster)
    was_watched(cluster, 3600)
    found = column(measure)
    assert (found.values[0], found.is_bound(0), found.reason(0)) == (0, False, "")


@pytest.mark.parametrize("measure", OF_AN_HOUR)
def test_what_is_counted_over_an_hour_of_which_the_members_were_not_reported_in_part_is_a_lower_bound(
    cluster: Cluster, measure: Measure
) -> None:
    group = a_behind_group(cluster)
    was_watched(cluster, 3600)
    begin, end = NOW - timedelta(minutes=40), NOW - timedelta(minutes=10)
    MembershipGap.objects.create(group=group, began_at=begin, ended_at=end, is_listed=False)
    found = column(measure)
    assert (found.values[0], found.is_bound(0)) == (0, True)
    assert "from 2026-03-14 02:20:00 UTC to 2026-03-14 02:50:00 UTC" in found.reason(0)


@pytest.mark.parametrize("measure", OF_AN_HOUR)
def test_after_an_outage_it_fires_and_resolves_nothing(cluster: Cluster, measure: Measure) -> None:
    group = a_behind_group(cluster)
    rebalance, repeat = a_rebalance(group), a_repeat(group)
    fires_by(measure, 0.5)
    rebalance.delete()
    repeat.delete()
    assert "there may be more" in what_is_unknown()


def test_members_that_nobody_told_for_long_are_unknown(cluster: Cluster) -> None:
    a_behind_group(cluster, membership_at=NOW - timedelta(seconds=901))
    found = column(Measure.MEMBERS)
    assert found.values[0] is None
    assert "has reported the group's members since" in found.reason(0)
