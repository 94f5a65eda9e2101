"""The Findings page, a group's own findings, and how many there are on the overview."""

import re

import pytest
from django.test import Client

from consumers.models import ConsumerGroup
from tests.health_rows import a_finding, was_checked
from tests.world import a_broker, a_cluster, a_group

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]


@pytest.fixture
def billing() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    was_checked(group)
    return group


def said(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def lines(client: Client, address: str = "/findings/") -> list[str]:
    body = client.get(address).text.partition('<ul class="findings">')[2].partition("</ul>")[0]
    return [said(line) for line in body.split("<li>")[1:]]


def test_a_line_says_what_where_since_when_and_what_to_do(admin_client: Client, billing: ConsumerGroup) -> None:
    a_finding(billing, "retries_discarded", params={"brokers": ["broker-a"]})
    [line] = lines(admin_client)
    assert "critical billing Failed messages are discarded Failed messages are discarded: broker-a since 02:50" in line
    assert "Set retryQueueNums of the group to 1 or more" in line


def test_a_finding_leads_to_the_tab_that_says_more(admin_client: Client, billing: ConsumerGroup) -> None:
    a_finding(billing, "settling", "info", params={"changed_seconds": 5.0})
    a_finding(billing.cluster, "delay_levels_unknown", "unknown", broker="broker-a")
    body = admin_client.get("/findings/").text
    assert 'href="/groups/prod/billing/ownership/"' in body
    assert 'href="/retries/?cluster=prod"' in body


def test_chips_count_by_severity_and_narrow_the_list(admin_client: Client, billing: ConsumerGroup) -> None:
    a_finding(billing, "retries_discarded", params={"brokers": ["broker-a"]})
    a_finding(billing, "dlq_unreadable", "warning", params={"brokers": ["broker-b"]})
    body = admin_client.get("/findings/?severity=warning").text
    assert said(body.partition('aria-label="Severity"')[2].partition("</nav>")[0]).split()[1:] == [
        *("critical", "1"),
        *("warning", "1"),
    ]
    assert ["DLQ not readable" in line for line in lines(admin_client, "/findings/?severity=warning")] == [True]


def test_a_title_is_not_said_twice(admin_client: Client, billing: ConsumerGroup) -> None:
    a_finding(billing, "retried_in_place", "info")
    [line] = lines(admin_client)
    assert line.count("A failed message blocks its queue") == 1
    assert "other messages of the queue wait" in line


def test_a_note_does_not_look_like_something_unknown(admin_client: Client, billing: ConsumerGroup) -> None:
    a_finding(billing, "settling", "info", params={"changed_seconds": 5.0})
    body = admin_client.get("/findings/").text.partition('<ul class="findings">')[2]
    assert "state-info" in body
    assert "state-unknown" not in body


def test_without_findings_it_says_what_was_checked(admin_client: Client, billing: ConsumerGroup) -> None:
    assert "No findings. All checks ran" in admin_client.get("/findings/").text


def test_a_group_that_was_never_checked_is_no_group_without_findings(admin_client: Client) -> None:
    a_group(a_cluster())
    [line] = lines(admin_client)
    assert "unknown prod Not checked 1 group not checked." in line


def test_an_unknown_filter_is_refused(admin_client: Client, billing: ConsumerGroup) -> None:
    assert admin_client.get("/findings/?severity=bad").status_code == 400
    assert admin_client.get("/findings/?code=bad").status_code == 400


def test_a_group_shows_its_own_findings(admin_client: Client, billing: ConsumerGroup) -> None:
    a_finding(billing, "retries_discarded", params={"brokers": ["broker-a"]})
    a_finding(billing, "settling", "info", params={"changed_seconds": 5.0})
    a_finding(a_group(billing.cluster, "mail"), "dlq_unreadable", params={"brokers": ["broker-a"]})
    [line] = lines(admin_client, "/groups/prod/billing/")
    assert "Failed messages are discarded" in line
    assert "1 more finding" in said(admin_client.get("/groups/prod/billing/").text)


def test_the_overview_counts_findings_by_severity(admin_client: Client, billing: ConsumerGroup) -> None:
    a_finding(billing, "retries_discarded", params={"brokers": ["broker-a"]})
    a_finding(billing, "settling", "info", params={"changed_seconds": 5.0})
    body = admin_client.get("/").text
    assert 'id="findings-critical" href="/findings/?severity=critical"' in body
    assert 'id="findings-info"' not in body


def test_filters_do_not_say_that_nothing_is_found_where_it_was_not_checked(
    admin_client: Client, billing: ConsumerGroup
) -> None:
    a_finding(billing, "ownership_unknown", "unknown", params={"why": "silent"})
    text = said(admin_client.get("/findings/?code=lock_lost").text)
    assert "There may be more: 1 finding says that these checks are unknown. show what is unknown" in text
    assert "No known finding matches these filters." in text
