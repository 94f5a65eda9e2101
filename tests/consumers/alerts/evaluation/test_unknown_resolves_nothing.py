"""An incident of any measure goes on to fire while its value is unknown, for whatever reason."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.alerts.measures.registry import SPECS
from consumers.models import (
    AlertRule,
    Assignment,
    Broker,
    Client,
    Cluster,
    ConsumerGroup,
    GroupState,
    GroupTotal,
    GroupWindow,
    Incident,
    Measure,
    PipelineRun,
    Queue,
    QueueSnapshot,
    QueueState,
    Reading,
    Rebalance,
    RepeatEvent,
    StoredFinding,
    SubjectKind,
)
from tests.alert_rows import a_rule
from tests.health_rows import a_finding, was_checked
from tests.lost_rows import a_losing_group
from tests.rebalance_rows import a_rebalance, a_repeat, read_every
from tests.world import (
    NOW,
    a_broker,
    a_client,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_reading,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=60)
HOUR = 3600.0
AGES = (Measure.UNKNOWN, Measure.UNSETTLED, Measure.BROKER_UNREAD, Measure.NAME_SERVER, Measure.READING_AGE)
THRESHOLDS = {Measure.EXPIRY: HOUR, Measure.EXPIRES_UNCONSUMED: HOUR, Measure.MEMBERS: 1.0, **dict.fromkeys(AGES, 60.0)}
# The site always knows how long it has done nothing.
NEVER_UNKNOWN = (Measure.JUDGEMENT_AGE,)
LATE_LEVEL = {"levels": [3], "worst_level": 3, "overdue_seconds": 66.0, "waiting_messages": 5}
READ = [{"name": name, "read": True, "error": None} for name in ("broker-a", "broker-b")]


def a_firing_world() -> None:
    """A cluster in trouble, and one that nobody scrapes any more."""
    a_cluster("forgotten", read_at=ago(600))
    cluster = a_cluster(read_at=None)
    a_broker(cluster, file_reserved_hours=2)
    a_broker(cluster, "broker-b", last_read_at=ago(600), failing_since=ago(590), error="refused", file_reserved_hours=2)
    read_every(15, cluster, 4000, 600, brokers=READ)
    failing = [READ[0], READ[1] | {"read": False, "error": "refused"}]
    read_every(15, cluster, 585, brokers=failing, error="no name server answers")
    PipelineRun.objects.create(since=ago(60), until=NOW, started_at=NOW, finished_at=NOW)
    a_group_in_trouble(cluster)
    a_losing_group(cluster, "losing")
    doubtful = a_group(cluster, "doubtful")
    a_total(doubtful, None, unknown_reason="consumer_ahead", last_good_at=ago(900))
    a_judged_group(doubtful)
    for row in Cluster.objects.all():
        a_finding(row, "late_delay_levels", broker="broker-a", params=LATE_LEVEL)
        a_finding(row, "offset_file_unread", params={"file_problem": None})


def a_group_in_trouble(cluster: Cluster) -> None:
    group = a_group(cluster, settled_at=ago(500), members_changed_at=ago(600))
    held, nobodys = a_queue(cluster, "Orders", 0), a_queue(cluster, "Orders", 1)
    Queue.objects.update(readable=True)
    for queue in (held, nobodys):
        a_snapshot(group, queue, 10, 90)
        a_judged_queue(group, queue, "STALL", time_lag_seconds=7000.0)
    a_total(group, 160, expired_messages=5)
    said = {"time_lag_seconds": 7000.0, "drain_seconds": 9000.0, "retry_share": 0.5}
    a_judged_group(group, "STALL", expiry_forecast="expected", expires_unconsumed_seconds=600.0, **said)
    for minutes in range(1, 6):
        GroupWindow.objects.create(group=group, step_seconds=60, start=ago(60 * minutes), readings=4, into_dlq=1)
    for client_id in ("c1", "c2"):
        a_client(group, client_id, running_info_at=ago(20), subscriptions=[{"topic": "Orders", "expression": "*"}])
        head = {"head_since": ago(900), "cached_min": 10, "cached_max": 20, "cached_count": 10}
        times = {"seen_since": ago(3600), "last_seen": ago(20)}
        Assignment.objects.create(group=group, queue=held, client_id=client_id, **head, **times)
    a_rebalance(group, ago(900), last_change_at=ago(30), settled_at=None, polls=60)
    a_repeat(group)
    was_checked(group)
    a_finding(group, "retries_discarded", params={"brokers": ["broker-a"]})


def rows_become_calm() -> None:
    """Whoever took these rows for what is so now would find nothing wrong."""
    calm = {"lag_messages": 0, "lag_messages_at_least": 0, "expired_messages": 0, "lost_queues": 0}
    GroupTotal.objects.update(unknown_reason=None, **calm)
    QueueSnapshot.objects.update(consumer_offset=90, broker_offset=90, unknown_reason=None, lost_at=None)
    numbers = {"time_lag_seconds": 0.0, "drain_seconds": None, "retry_share": 0.0, "expires_unconsumed_seconds": None}
    GroupState.objects.update(state="OK", rule="caught_up", expiry_forecast="none", **numbers)
    QueueState.objects.update(state="OK", rule="caught_up", time_lag_seconds=0.0)
    GroupWindow.objects.update(into_dlq=0)
    ConsumerGroup.objects.update(members=1)
    Assignment.objects.all().delete()
    Client.objects.filter(client_id="c2").delete()
    for queue in Queue.objects.filter(topic__name="Orders"):
        times = {"seen_since": ago(3600), "last_seen": ago(20)}
        Assignment.objects.create(group=queue.snapshots.get().group, queue=queue, client_id="c1", **times)
    for rows in (Rebalance, RepeatEvent, StoredFinding):
        rows.objects.all().delete()
    Reading.objects.update(error=None, brokers=READ)
    Broker.objects.update(last_read_at=NOW, failing_since=None, error=None)


def all_is_known_again(at: datetime) -> None:
    for cluster in Cluster.objects.all():
        for number in range(120):
            a_reading(cluster, at - timedelta(seconds=30 * number), brokers=READ)
    Broker.objects.update(last_read_at=at)
    PipelineRun.objects.create(since=NOW, until=at, started_at=at, finished_at=at)
    GroupState.objects.update(judged_at=at)
    ConsumerGroup.objects.update(membership_at=at)
    was_checked(*ConsumerGroup.objects.all(), seconds_ago=(NOW - at).total_seconds())
    Cluster.objects.update(checked_at=at)
    group = ConsumerGroup.objects.get(name="billing")
    for minutes in range(1, 6):
        start = at - timedelta(minutes=minutes)
        GroupWindow.objects.create(group=group, step_seconds=60, start=start, readings=4, into_dlq=0)


def a_rule_of(measure: Measure, topic: str = "") -> AlertRule:
    said: dict[str, Any] = {"threshold": THRESHOLDS.get(measure, 0.0), "comparison": SPECS[measure].comparisons[0]}
    if measure is Measure.STATE:
        said = {"threshold": None, "comparison": "in", "states": ["STALL"]}
    if measure is Measure.FINDINGS:
        said["findings"] = ["critical"]
    return a_rule(f"{measure} {topic}", measure=measure, topic=topic, for_seconds=0, clear_seconds=0, **said)


def incidents_at(at: datetime) -> list[tuple[str, str, bool]]:
    """Kind of the subject, status, and whether the value is unknown, of each."""
    evaluate(at, lambda: at)
    rows = Incident.objects.order_by("subject_kind", "subject_key")
    return [(one.subject_kind, one.status, one.unknown_since is not None) for one in rows]


@pytest.mark.parametrize("measure", [measure for measure in Measure if measure not in NEVER_UNKNOWN])
def test_nothing_resolves_while_its_value_is_unknown(measure: Measure) -> None:
    AlertRule.objects.all().delete()
    a_firing_world()
    a_rule_of(measure)
    if SPECS[measure].knows_topics:
        a_rule_of(measure, "Orders")
    fired = incidents_at(NOW)
    assert {kind for kind, *_ in fired} == set(SPECS[measure].reads) - {SubjectKind.SITE}
    assert {(status, is_unknown) for _, status, is_unknown in fired} == {("firing", False)}
    rows_become_calm()
    # As long as a reading is late, and an evaluation, and twice: what is unknown stays so.
    for minutes in (20, 40):
        unknown = incidents_at(NOW + timedelta(minutes=minutes))
        kinds = [kind for kind, *_ in fired]
        assert [one for one in unknown if one[0] != SubjectKind.SITE] == [(kind, "firing", True) for kind in kinds]
    all_is_known_again(LATER)
    assert {status for kind, status, _ in incidents_at(LATER) if kind != SubjectKind.SITE} == {"resolved"}
