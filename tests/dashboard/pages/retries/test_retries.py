import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from consumers.models import Broker, ConsumerGroup, DelayLevel, GroupBroker, GroupTotal
from tests.browser.fleets import a_fleet, client_id, read_for_an_hour
from tests.health_rows import a_finding, was_checked
from tests.retry_rows import a_queue_is_blocked, levels_wait, retries_work
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_total, ago

pytestmark = pytest.mark.django_db
URL = "/retries/"
BROKERS = ("broker-a", "broker-b")


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster(read_at=None)
    for name in BROKERS:
        a_broker(cluster, name)
    read_for_an_hour(cluster)
    found = a_fleet(cluster, "billing", "Orders", BROKERS, 8, 3)
    retries_work(found)
    levels_wait(found)
    return found


def section(client: Client, name: str, query: str = "") -> str:
    found = re.search(rf'<section id="{name}">.*?</section>', client.get(f"{URL}{query}").text, re.DOTALL)
    assert found, f"no section {name}"
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[0]))


def listed(client: Client, query: str = "") -> list[str]:
    html = client.get(f"{URL}{query}").text
    return re.findall(r'id="group-\d+" href="[^"]+">([^<]+)<', html)


def test_where_nothing_is_wrong_it_says_what_would_stand_there(admin_client: Client, group: ConsumerGroup) -> None:
    was_checked(group)
    assert "No failing checks." in section(admin_client, "failing")
    assert "No blocked queue is known." in section(admin_client, "blocked")


def test_no_check_passes_on_a_broker_that_is_not_scraped(admin_client: Client, group: ConsumerGroup) -> None:
    was_checked(group)
    Broker.objects.filter(name="broker-a").update(last_read_at=ago(600), failing_since=ago(600), error="refused")
    assert "No failing check is known." in section(admin_client, "failing")


def test_groups_whose_checks_are_late_are_named_where_none_fails(admin_client: Client, group: ConsumerGroup) -> None:
    said = section(admin_client, "failing")
    assert "No failing check is known." in said
    assert "1 group not checked." in said


def test_checks_that_could_not_be_made_are_told_beside_those_that_pass(
    admin_client: Client, group: ConsumerGroup
) -> None:
    was_checked(group)
    assert "unknown" not in section(admin_client, "failing")
    a_finding(group, "retry_checks_unknown", "unknown")
    said = section(admin_client, "failing")
    assert "No failing check is known." in said
    assert "Some checks of 1 group are unknown. show which" in said
    assert 'href="/findings/?code=retry_checks_unknown"' in admin_client.get(URL).text


def test_a_condition_that_fails_leads_to_its_group_and_says_the_cure(
    admin_client: Client, group: ConsumerGroup
) -> None:
    GroupBroker.objects.filter(broker="broker-b").update(retry_queue_nums=0)
    said = section(admin_client, "failing")
    assert re.search(r"critical billing prod / broker-b .*updateSubGroup", said)
    assert 'id="failing-1" href="/groups/prod/billing/retries/"' in admin_client.get(URL).text


def test_one_cause_of_many_groups_is_one_row(admin_client: Client, group: ConsumerGroup) -> None:
    for number in range(3):
        retries_work(a_fleet(group.cluster, f"other-{number}", f"Other{number}", BROKERS, 4, 1))
    Broker.objects.filter(name="broker-b").update(permission=4)
    said = section(admin_client, "failing")
    assert "info 4 groups prod / broker-b broker-b takes no messages" in said
    assert len(re.findall(r"critical|warning|info ", said)) == 1


def test_a_blocked_queue_leads_to_its_group(admin_client: Client, group: ConsumerGroup) -> None:
    a_queue_is_blocked(group)
    said = section(admin_client, "blocked")
    blocked = "billing prod blocked 12 min on Orders/broker-a/0"
    assert f"{blocked}: {client_id(0)} suspends message 900 (order-48211)" in said
    assert 'id="blocked-1" class="name" href="/groups/prod/billing/retries/"' in admin_client.get(URL).text


def test_a_broker_that_delivers_late_is_loud(admin_client: Client, group: ConsumerGroup) -> None:
    DelayLevel.objects.filter(broker="broker-b", level=5).update(next_due_at=NOW - timedelta(seconds=300))
    assert "critical broker-b delivers delayed messages late" in section(admin_client, "failing")
    assert re.search(r"prod / broker-b 891 18 late .*prod / broker-a", section(admin_client, "delays"))


def test_levels_that_were_not_read_say_why(admin_client: Client, group: ConsumerGroup) -> None:
    Broker.objects.filter(name="broker-b").update(delays_error="timed out after 5 s")
    assert "unknown broker-b did not report its delay levels: timed out after 5 s" in section(admin_client, "delays")


def test_groups_with_most_dead_letters_stand_first(admin_client: Client, group: ConsumerGroup) -> None:
    GroupTotal.objects.update(dlq_messages=3)
    for name, letters in (("email", 40), ("quiet", 0)):
        other = a_group(group.cluster, name)
        a_total(other, 0, dlq_messages=letters)
        a_judged_group(other)
    assert listed(admin_client) == ["email", "billing", "quiet"]
    assert listed(admin_client, "?ordering=dlq_messages") == ["quiet", "billing", "email"]
    assert listed(admin_client, "?search=mai") == ["email"]
    assert 'href="/groups/prod/email/retries/"' in admin_client.get(URL).text


def test_it_keeps_to_one_cluster(admin_client: Client, group: ConsumerGroup) -> None:
    a_group(a_cluster("second"), "audit")
    assert listed(admin_client, "?cluster=second") == ["audit"]
    assert set(listed(admin_client)) == {"billing", "audit"}
    assert "prod / broker-a" not in section(admin_client, "delays", "?cluster=second")


def test_its_pages_follow_each_other(admin_client: Client, group: ConsumerGroup) -> None:
    for number in range(40):
        a_group(group.cluster, f"group-{number:02}")
    first, second = (listed(admin_client, f"?ordering=group&page={number}") for number in (1, 2))
    assert (len(first), len(second)) == (30, 11)
    assert "1–30 of 41 groups" in section(admin_client, "retrying", "?ordering=group")


def test_without_a_cluster_it_teaches_how_to_add_one(admin_client: Client) -> None:
    assert "manage.py cluster add prod --namesrv" in admin_client.get(URL).text


def test_its_part_refreshes_freshness_and_lists(admin_client: Client, group: ConsumerGroup) -> None:
    part = admin_client.get("/parts/retries/?range=6h").text
    assert 'id="freshness" hx-swap-oob="true"' in part
    assert 'id="delays"' in part
    assert "<html" not in part


def test_the_rail_leads_there(admin_client: Client, group: ConsumerGroup) -> None:
    assert re.search(r'<a href="/retries/" aria-current="page">Retries &amp; DLQ</a>', admin_client.get(URL).text)


@pytest.mark.parametrize("query", ["?ordering=magic", "?page=0", "?range=2h"])
def test_it_refuses_what_it_does_not_know(admin_client: Client, group: ConsumerGroup, query: str) -> None:
    assert admin_client.get(f"{URL}{query}").status_code == 400


def test_nobody_sees_it_without_logging_in(client: Client) -> None:
    assert client.get(URL).status_code == 302


def test_what_it_asks_the_database_does_not_grow_with_groups(admin_client: Client, group: ConsumerGroup) -> None:
    few = _statements(admin_client)
    for number in range(40):
        retries_work(a_fleet(group.cluster, f"other-{number}", f"Other{number}", BROKERS, 4, 1))
    assert _statements(admin_client) <= few + 1


def _statements(client: Client) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(URL).status_code == 200
    return len(asked)
