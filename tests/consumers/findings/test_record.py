"""Findings over time: found, seen again, resolved, and kept where nobody knows."""

import pytest

from consumers.findings.queries import check_groups
from consumers.findings.record import record_clusters, record_groups
from consumers.models import Assignment, Broker, Client, Cluster, ConsumerGroup, GroupBroker, OffsetFile, StoredFinding
from tests.browser.fleets import client_id
from tests.health_rows import a_healthy_group, a_read_cluster
from tests.retry_rows import levels_wait
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    return a_read_cluster()


@pytest.fixture
def group(cluster: Cluster) -> ConsumerGroup:
    return a_healthy_group(cluster)


def check(group: ConsumerGroup, now=NOW) -> None:
    groups = [ConsumerGroup.objects.select_related("cluster").get(pk=group.pk)]
    record_groups(groups, check_groups(groups, now), now)


def still_open() -> list[str]:
    return sorted(StoredFinding.objects.filter(resolved_at=None).values_list("code", flat=True))


def test_nothing_is_stored_of_a_group_that_is_well(group) -> None:
    check(group)
    assert not StoredFinding.objects.exists()


def test_a_finding_is_stored_once_however_often_it_is_seen(group) -> None:
    GroupBroker.objects.filter(broker="broker-b").update(retry_queue_nums=0)
    check(group, ago(30))
    check(group, ago(30))
    check(group, NOW)
    [row] = StoredFinding.objects.all()
    assert (row.code, row.severity, row.group, row.group_name) == ("retries_discarded", "critical", group, "billing")
    assert row.params == {"brokers": ["broker-b"]}
    assert (row.since, row.last_seen_at, row.resolved_at) == (ago(30), NOW, None)


def test_what_changes_of_a_finding_leaves_its_beginning(group) -> None:
    GroupBroker.objects.filter(broker="broker-b").update(retry_queue_nums=0)
    check(group, ago(30))
    GroupBroker.objects.update(retry_queue_nums=0)
    check(group, NOW)
    [row] = StoredFinding.objects.all()
    assert (row.params, row.since) == ({"brokers": ["broker-a", "broker-b"]}, ago(30))


def test_a_finding_that_is_not_found_again_is_resolved_and_begins_anew(group) -> None:
    GroupBroker.objects.update(retry_queue_nums=0)
    check(group, ago(60))
    GroupBroker.objects.update(retry_queue_nums=1)
    check(group, ago(30))
    assert StoredFinding.objects.get().resolved_at == ago(30)
    GroupBroker.objects.update(retry_queue_nums=0)
    check(group, NOW)
    assert StoredFinding.objects.get(resolved_at=None).since == NOW


def test_a_finding_that_nobody_can_check_any_more_stays_open(group) -> None:
    GroupBroker.objects.update(retry_queue_nums=0)
    check(group, ago(30))
    GroupBroker.objects.all().delete()
    check(group, NOW)
    assert still_open() == ["retries_discarded", "retry_checks_unknown"]
    assert StoredFinding.objects.get(code="retries_discarded").last_seen_at == ago(30)


def test_a_queue_of_nobody_stays_found_while_a_member_is_silent(group) -> None:
    Assignment.objects.filter(group=group, client_id=client_id(0)).delete()
    check(group, ago(30))
    assert still_open() == ["unowned_no_start"]
    Client.objects.filter(client_id=client_id(1)).update(running_info_error="timed out")
    check(group, NOW)
    assert still_open() == ["ownership_unknown", "unowned_no_start"]


def test_owners_that_were_not_read_are_a_finding_that_ends(group) -> None:
    ConsumerGroup.objects.update(membership_at=ago(1000))
    check(group, ago(30))
    row = StoredFinding.objects.get(code="ownership_unknown")
    assert (row.severity, row.params) == ("unknown", {"why": "not listed"})
    ConsumerGroup.objects.update(membership_at=ago(5))
    check(group, NOW)
    assert still_open() == []


def test_everything_of_a_group_that_is_no_longer_used_is_resolved(group) -> None:
    GroupBroker.objects.update(retry_queue_nums=0)
    check(group, ago(30))
    ConsumerGroup.objects.update(kind="system")
    check(group, NOW)
    assert still_open() == []


def test_a_group_that_was_deleted_meanwhile_is_left_out(group) -> None:
    GroupBroker.objects.update(retry_queue_nums=0)
    groups = [ConsumerGroup.objects.select_related("cluster").get(pk=group.pk)]
    checks = check_groups(groups, NOW)
    ConsumerGroup.objects.all().delete()
    record_groups(groups, checks, NOW)
    assert still_open() == []


def test_late_delay_levels_are_one_finding_of_their_broker(group) -> None:
    levels_wait(group, late_seconds=600)
    record_clusters(NOW)
    rows = StoredFinding.objects.filter(code="late_delay_levels").order_by("broker")
    told = [(row.broker, row.severity, row.group) for row in rows]
    assert told == [("broker-a", "critical", None), ("broker-b", "critical", None)]


def test_a_broker_that_is_not_read_leaves_lost_offsets_unknown(group) -> None:
    Broker.objects.filter(name="broker-a").update(failing_since=ago(60), error="refused")
    record_clusters(NOW)
    rows = StoredFinding.objects.filter(code="lost_offsets_unknown")
    assert [row.broker for row in rows] == ["broker-a"]


def test_equal_findings_of_a_file_are_one_with_their_number(cluster) -> None:
    of_row = [{"code": "unknown_topic", "where": f"line {line}", "params": {"topic": "Gone"}} for line in range(3)]
    OffsetFile.objects.create(cluster=cluster, path="/a/consumerOffset.json", broker="broker-a", findings=of_row)
    record_clusters(NOW)
    [row] = StoredFinding.objects.filter(code="offset_file")
    assert (row.params["others"], row.params["file_finding"]["where"]) == (2, "line 0")


def test_a_file_that_was_not_read_is_a_finding(cluster) -> None:
    error = '{"code": "missing", "params": {"path": "/a/consumerOffset.json"}}'
    OffsetFile.objects.create(cluster=cluster, path="/a/consumerOffset.json", error=error)
    record_clusters(NOW)
    assert StoredFinding.objects.get(code="offset_file_unread").params["file_problem"] == error


def test_all_clusters_are_checked_with_as_many_queries_as_one(group, django_assert_max_num_queries) -> None:
    for name in ("stock", "mail", "audit"):
        a_healthy_group(group.cluster, name)
    with django_assert_max_num_queries(22):
        record_clusters(NOW)
