"""Lost offsets are told of their broker, once for all of its groups, and end nothing that fires of a group."""

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.models import AlertRule, Incident, Measure, PipelineRun, QueueSnapshot
from consumers.vocabulary.states import UnknownReason
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule, an_incident
from tests.consumers.alerts.measures.group_rows import everything
from tests.lost_rows import a_losing_group
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, ago

pytestmark = pytest.mark.django_db
REPORTED_FOR_BROKER = "2 queues with a lost offset: reported for the broker"


@pytest.fixture
def cluster():
    PipelineRun.objects.create(since=ago(60), until=ago(20), started_at=ago(20), finished_at=ago(10))
    cluster = a_cluster()
    a_broker(cluster)
    a_broker(cluster, "broker-b")
    return cluster


def lost_queues(found):
    column = found.brokers.columns[Measure.LOST]
    return dict(zip([subject.broker for subject in found.brokers.subjects], column.values, strict=True))


def test_a_broker_counts_the_queues_of_all_groups_and_names_the_groups(cluster):
    a_losing_group(cluster)
    a_losing_group(cluster, "shop", queues=1)
    found = everything()
    assert lost_queues(found) == {"broker-a": 3, "broker-b": 0}
    column = found.brokers.columns[Measure.LOST]
    said = "broker-a lost the offsets of 2 groups, 3 queues · last read 2026-03-14 02:59:29 UTC"
    assert (column.evidence(0), column.since(0)) == (said, ago(31))
    assert [one.group for one in found.explained["broker:prod/broker-a"]] == ["billing", "shop"]


def test_what_a_broker_lost_that_is_not_read_is_not_known(cluster):
    a_dead_broker(cluster, "broker-c")
    a_losing_group(cluster, broker="broker-c")
    found = everything()
    assert lost_queues(found)["broker-c"] is None
    assert found.brokers.columns[Measure.LOST].reason(2) == "broker-c could not be read: connection refused"


def test_groups_that_nobody_uses_and_system_groups(cluster):
    a_losing_group(cluster, "old", offline_since=ago(10 * 86400), moved_at=ago(10 * 86400))
    a_losing_group(cluster, "CID_RMQ_SYS_x", kind="system")
    assert lost_queues(everything())["broker-a"] == 2


def test_a_group_is_left_to_its_broker(cluster):
    a_losing_group(cluster)
    groups = everything().groups.columns
    for measure in (Measure.STATE, Measure.UNKNOWN):
        assert (groups[measure].values[0], groups[measure].reason(0)) == (None, REPORTED_FOR_BROKER)
    assert groups[Measure.LAG].reason(0) == "the committed offset is gone from the broker: 2 queues"


def test_messages_that_are_lost_on_another_queue_are_told_of_the_group(cluster):
    group = a_losing_group(cluster, state="LOSS")
    assert everything().groups.columns[Measure.STATE].values[0] == "LOSS"
    group.judged.rule = "offset_lost"
    group.judged.save()
    assert everything().groups.columns[Measure.STATE].values[0] is None


def test_many_groups_are_one_critical_incident_which_ends_with_the_loss(cluster):
    AlertRule.objects.all().delete()
    a_rule("Messages lost", measure="state", comparison="in", threshold=None, states=["LOSS"], for_seconds=0)
    critical = {"threshold": 0, "for_seconds": 0, "clear_seconds": 0, "severity": "critical"}
    a_rule("Offsets lost", measure="lost_queues", **critical)
    for name in ("billing", "shop", "audit"):
        a_losing_group(cluster, name)
    evaluate(NOW, lambda: NOW)
    incident = Incident.objects.get()
    assert (incident.rule_name, incident.subject_key, incident.status) == (
        "Offsets lost",
        "broker:prod/broker-a",
        "firing",
    )
    assert (incident.severity, incident.value, incident.groups_count) == ("critical", 6, 3)
    QueueSnapshot.objects.update(unknown_reason=UnknownReason.NEVER_COMMITTED)
    evaluate(ago(-15), lambda: ago(-15))
    incident.refresh_from_db()
    assert (incident.status, incident.ending) == ("resolved", "recovered")


def test_an_incident_of_a_group_stays_open_while_its_offsets_are_lost(cluster):
    rule = a_rule("Stopped", measure="state", comparison="in", threshold=None, states=["STOP"], clear_seconds=0)
    group = a_losing_group(cluster)
    incident = an_incident(rule, group, state="STOP", value=None)
    evaluate(NOW, lambda: NOW)
    incident.refresh_from_db()
    assert (incident.status, stored_words(incident.unknown_reason)) == ("firing", REPORTED_FOR_BROKER)
