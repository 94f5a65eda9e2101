import re
from html import unescape

import pytest
from django.test import Client

from consumers.models import Client as Member, Cluster, QueueSnapshot
from consumers.vocabulary.states import UnknownReason
from consumers.words.reasons import reason_words
from tests.world import (
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
URL = "/groups/prod/billing/"


@pytest.fixture
def cluster() -> Cluster:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster, "billing")
    a_total(group, 40)
    a_judged_group(group, time_lag_seconds=12.0)
    for number, behind in enumerate((0, 40)):
        queue = a_queue(cluster, "Orders", number)
        a_snapshot(group, queue, 1000 - behind, 1000, min_offset=100)
        a_judged_queue(group, queue, time_lag_seconds=12.0 if behind else 0.0)
    Member.objects.create(
        group=group, client_id="10.0.0.7@1", address="10.0.0.7:1", language="JAVA", seen_since=ago(90), last_seen=ago(9)
    )
    return cluster


def said(client: Client, address: str = "/groups/prod/billing/") -> str:
    text = re.sub(r"<title>.*?</title>", " ", client.get(address).text)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def without_links(text: str) -> str:
    return re.sub(r"</?a\b[^>]*>", "", text)


def queue_names(client: Client, query: str = "") -> list[str]:
    page = without_links(client.get(f"/groups/prod/billing/?{query}").text)
    return re.findall(r'<th scope="row">(\w+ / [\w-]+ / \d+)</th>', page)


def test_it_says_the_state_with_lag_and_ages(admin_client: Client, cluster: Cluster) -> None:
    text = said(admin_client)
    assert "40 messages" in text
    assert "Scraped 5 s ago" in text
    assert "Evaluated 20 s ago" in text


def test_it_lists_every_queue_with_its_position(admin_client: Client, cluster: Cluster) -> None:
    assert queue_names(admin_client) == ["Orders / broker-a / 0", "Orders / broker-a / 1"]
    assert 'aria-label="min 100, consumer 960, max 1,000"' in admin_client.get("/groups/prod/billing/").text


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", [2, 0, 3, 1]),
        ("ordering=-state", [1, 0, 3, 2]),
        ("ordering=queue", [0, 1, 2, 3]),
        ("ordering=-queue", [3, 2, 1, 0]),
        ("ordering=-lag_messages", [1, 0, 2, 3]),
        ("ordering=lag_messages", [0, 2, 1, 3]),
    ],
)
def test_the_worst_queue_stands_first_until_another_order_is_chosen(
    admin_client: Client, cluster: Cluster, query: str, ids: list[int]
) -> None:
    group = cluster.groups.get()
    for number, (end, state) in enumerate([(10, "WARN"), (10, "OK"), (10, "STALL"), (None, "WARN")]):
        queue = a_queue(cluster, "Payments", number)
        reason = None if end else UnknownReason.NO_BROKER_OFFSET
        a_snapshot(group, queue, 0 if number == 1 else 4, end, min_offset=0, unknown_reason=reason)
        a_judged_queue(group, queue, state=state)
    names = queue_names(admin_client, f"topic=Payments&{query}")
    assert [int(name.rpartition(" ")[2]) for name in names] == ids


def test_an_order_that_there_is_not_is_refused(admin_client: Client, cluster: Cluster) -> None:
    assert admin_client.get(f"{URL}?ordering=owner").status_code == 400


def test_it_can_leave_out_queues_without_lag(admin_client: Client, cluster: Cluster) -> None:
    assert queue_names(admin_client, "lag=1") == ["Orders / broker-a / 1"]


def test_no_queue_is_said_to_lag_of_the_chosen_topic_alone(admin_client: Client, cluster: Cluster) -> None:
    a_snapshot(cluster.groups.get(), a_queue(cluster, "Payments", 0), 4, 4)
    page = admin_client.get(f"{URL}?topic=Payments&lag=1").text
    assert "No queue of Payments has lag or is unknown." in page


def test_a_group_whose_queues_nobody_has_seen_is_not_said_to_have_none_with_lag(
    admin_client: Client, cluster: Cluster
) -> None:
    QueueSnapshot.objects.all().delete()
    assert "No queue yet: the group has no committed offset in any scrape." in admin_client.get(f"{URL}?lag=1").text


def test_what_was_not_sampled_is_unknown_and_says_so(admin_client: Client, cluster: Cluster) -> None:
    queues = admin_client.get("/groups/prod/billing/").text.split("Members</h2>")[0]
    ready_in_flight_and_owner = 3
    assert queues.count('title="not sampled"') == 2 * ready_in_flight_and_owner


def test_a_queue_on_a_dead_broker_is_unknown_beside_one_that_is_read(admin_client: Client, cluster: Cluster) -> None:
    a_dead_broker(cluster)
    a_snapshot(cluster.groups.get(), a_queue(cluster, "Orders", 0, broker="broker-b"), 5, 9)
    page = without_links(admin_client.get("/groups/prod/billing/").text)
    row = page.split("Orders / broker-b / 0</th>")[1].split("</tr>")[0]
    assert "broker-b could not be read: connection refused" in row
    assert ">02:55:00<" in row
    assert not re.search(r">\s*0\s*<", row)
    assert queue_names(admin_client) == ["Orders / broker-b / 0", "Orders / broker-a / 0", "Orders / broker-a / 1"]


def test_it_asks_for_its_figures_over_the_range(admin_client: Client, cluster: Cluster) -> None:
    page = admin_client.get("/groups/prod/billing/?range=6h").text
    assert 'data-figure="/figures/prod/billing/lag/?range=6h"' in page
    assert re.search(r'<script src="/static/plotly/[\d.]+/plotly\.min\.js" defer>', page)


def test_a_group_that_was_never_read_is_not_found_and_named(admin_client: Client, cluster: Cluster) -> None:
    response = admin_client.get("/groups/prod/nobody/")
    assert response.status_code == 404
    assert "nobody" in response.text


@pytest.mark.parametrize("query", ["lag=2", "topic=Nothing", "page=0"])
def test_it_refuses_a_filter_that_it_does_not_know(admin_client: Client, cluster: Cluster, query: str) -> None:
    assert admin_client.get(f"/groups/prod/billing/?{query}").status_code == 400


def test_its_part_refreshes_queues_too(admin_client: Client, cluster: Cluster) -> None:
    part = admin_client.get("/parts/groups/prod/billing/").text
    assert 'id="rows" hx-swap-oob="true"' in part
    assert "data-figure" not in part


def test_another_cluster_is_chosen_in_the_list_of_groups(admin_client: Client, cluster: Cluster) -> None:
    a_cluster("second")
    assert 'href="/groups/?range=1h&amp;cluster=second"' in admin_client.get("/groups/prod/billing/").text


def test_it_says_why_each_kind_holds_and_lists_retired_topics_apart(admin_client: Client, cluster: Cluster) -> None:
    group = cluster.groups.get(name="billing")
    group.unsubscribed, group.consume_enable = {"Old": ago(720).isoformat()}, False
    group.save()
    a_snapshot(group, a_queue(cluster, "Old"), 0, 5000)

    page = said(admin_client)

    assert "paused consumeEnable is false: brokers refuse its pulls" in page
    assert "Old: excluded from sums and state · since" in page
    assert "Old / broker-a / 0 retired : retired: no member has subscribed to Old since" in page


@pytest.mark.parametrize(
    ("expired", "expected"),
    [(12, "Expired 12 messages"), (None, "Expired unknown the min offset of a queue with lag was not read")],
)
def test_it_shows_what_expired_unread(admin_client: Client, cluster: Cluster, expired: int, expected: str) -> None:
    total = cluster.groups.get(name="billing").total
    total.expired_messages = expired
    total.save()
    assert expected in said(admin_client)


@pytest.mark.parametrize("reason", [UnknownReason.TOPIC_GONE, UnknownReason.QUEUE_GONE, UnknownReason.NO_BROKER_OFFSET])
def test_a_queue_without_an_end_was_read_all_the_same(admin_client: Client, cluster: Cluster, reason: str) -> None:
    group = cluster.groups.get()
    a_snapshot(group, a_queue(cluster, "Gone", 7), 4242, None, min_offset=None, unknown_reason=reason)
    page = without_links(admin_client.get(URL).text)
    [row] = re.findall(r"<tr>\s*<th[^>]*>Gone / broker-a / 7</th>.*?</tr>", page, re.DOTALL)
    assert reason_words(reason) in unescape(row)
    assert "4,242" in row
    assert "last good" not in row


def test_anomalies_stand_above_the_queues_with_its_numbers_and_what_to_do(
    admin_client: Client, cluster: Cluster
) -> None:
    assert "Anomalies" not in said(admin_client)
    group = cluster.groups.get()
    a_snapshot(group, a_queue(cluster, "Orders", 2), 1200, 1000, unknown_reason=UnknownReason.CONSUMER_AHEAD)
    text = said(admin_client)
    assert text.index("Anomalies") < text.index("Queues")
    assert "queue 2 of Orders on broker-a: the consumer offset is ahead of the broker offset, by up to 200" in text
    assert "plan a reset to the oldest retained message" in text
