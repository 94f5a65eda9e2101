"""The list of rebalances over all groups."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, PipelineRun
from tests.rebalance_rows import a_moved_topic, a_rebalance, was_watched
from tests.world import NOW, a_broker, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    PipelineRun.objects.create(since=ago(50), until=ago(20), started_at=ago(20), finished_at=ago(18))
    return a_group(cluster)


def said(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def rows(client: Client, query: str = "") -> list[str]:
    body = client.get(f"/rebalances/?{query}").text.partition('<table class="rebalances">')[2].partition("</table>")[0]
    return [said(row) for row in body.split("<tr")[2:]]


def test_a_row_says_when_why_and_what_it_cost(admin_client: Client, billing: ConsumerGroup) -> None:
    a_moved_topic(a_rebalance(billing), doubly_owned_queues=2, doubly_owned_queue_seconds=30.0)
    [row] = rows(admin_client)
    assert "02:49:45 – 02:50:00 10 min ago billing" in row
    assert "joined 10.0.0.9@3312 joined from 10.0.0.9:41022 2 → 3" in row
    assert "2 → 3 1 of 8 15 s 2 for 30 s 3 to 11 30 s" in row


def test_it_leads_to_the_one_and_to_its_group(admin_client: Client, billing: ConsumerGroup) -> None:
    a_rebalance(billing)
    page = admin_client.get("/rebalances/?range=6h").text
    assert 'href="/rebalances/prod/billing/2026-03-14T02:50:00.000000Z/?range=6h"' in page
    assert 'href="/groups/prod/billing/?range=6h"' in page


def test_what_is_not_known_is_no_zero(admin_client: Client, billing: ConsumerGroup) -> None:
    a_rebalance(billing, members_before=None, settled_at=None)
    [row] = rows(admin_client)
    assert row.count("unknown : no topic of the group was known then") == 4
    assert "unknown : the polls around it do not contain the answer → 3" in row
    assert "not settled" in row
    assert not re.search(r"(?<![\d:.@])0(?![\d:.])", row)


def test_an_episode_stands_together_where_its_newest_stands(admin_client: Client, billing: ConsumerGroup) -> None:
    for seconds in (600, 500):
        a_rebalance(billing, ago(seconds), episode_since=ago(600))
    a_rebalance(a_group(billing.cluster, "stock"), ago(550))
    found = rows(admin_client)
    assert [re.search("billing|stock", row)[0] for row in found] == ["billing", "billing", "stock"]  # type: ignore[index]
    assert "2 rebalances in 1 episode" in found[0]
    assert "in 1 episode" not in found[1]
    assert 'class="follows"' in admin_client.get("/rebalances/").text


def test_a_chip_shows_one_cause_and_then_all_again(admin_client: Client, billing: ConsumerGroup) -> None:
    was_watched(billing.cluster, 3600)
    a_rebalance(billing)
    a_rebalance(a_group(billing.cluster, "stock"), cause="queue_count, joined")
    assert len(rows(admin_client, "cause=queue_count")) == 1
    chips = re.findall(
        r'id="chip-cause-\d" href="([^"]*)"[^>]*>([^<]*)<', admin_client.get("/rebalances/?cause=joined").text
    )
    assert chips == [("?", "joined 2"), ("?cause=queue_count", "queue count 1")]


def test_it_shows_one_group_and_leads_back_to_all(admin_client: Client, billing: ConsumerGroup) -> None:
    a_rebalance(billing)
    a_rebalance(a_group(billing.cluster, "stock"))
    page = admin_client.get("/rebalances/?group=stock&cluster=prod").text
    assert len(rows(admin_client, "group=stock&cluster=prod")) == 1
    assert 'id="chip-group" href="?cluster=prod"' in page


def test_it_is_of_the_range(admin_client: Client, billing: ConsumerGroup) -> None:
    was_watched(billing.cluster, 3600)
    a_rebalance(billing, ago(2 * 3600))
    page = admin_client.get("/rebalances/").text
    assert "No group rebalanced in the last 1 h." in page
    assert "The newest is of billing, 2 h ago ." in said(page)
    assert 'href="?range=6h">Select a range that includes it' in page
    assert len(rows(admin_client, "range=6h")) == 1


def test_of_a_range_that_was_partly_watched_it_does_not_say_that_there_was_none(
    admin_client: Client, billing: ConsumerGroup
) -> None:
    was_watched(billing.cluster, 1800)
    page = said(admin_client.get("/rebalances/").text)
    assert "No rebalance is known in the last 1 h. For part of this time brokers were not scraped" in page
    assert "No known rebalance in the last 1 h matches these filters." in said(
        admin_client.get("/rebalances/?cause=joined").text
    )
    a_rebalance(billing)
    page = said(admin_client.get("/rebalances/").text)
    assert "there may be more rebalances" in page
    assert "1–1 of ≥ 1 rebalance" in page
    assert "joined ≥ 1" in page


def test_it_pages(admin_client: Client, billing: ConsumerGroup) -> None:
    was_watched(billing.cluster, 3600)
    for number in range(51):
        a_rebalance(billing, ago(600 + number))
    assert "1–50 of 51 rebalances" in admin_client.get("/rebalances/").text
    assert len(rows(admin_client, "page=2")) == 1


def test_groups_that_flap_are_named_above(admin_client: Client, billing: ConsumerGroup) -> None:
    was_watched(billing.cluster, 7200)
    for number in range(1, 8):
        a_rebalance(billing, ago(number * 400))
    page = said(admin_client.get("/rebalances/").text)
    assert "flapping billing prod newest 6 min 40 s ago" in page
    assert "7 rebalances in 7 episodes, 1 h · ≥ 7 rebalances in 7 episodes, 24 h" in page


def test_of_many_groups_that_flap_the_worst_are_named(admin_client: Client, billing: ConsumerGroup) -> None:
    for number in range(12):
        group = a_group(billing.cluster, f"group-{number:02}")
        for episode in range(1, 8 if number < 11 else 9):
            a_rebalance(group, ago(episode * 400))
    page = admin_client.get("/rebalances/").text
    assert re.findall(r'id="flapping-\d+"[^>]*>([^<]+)<', page) == ["group-11", *(f"group-{n:02}" for n in range(9))]
    assert "and 2 more" in page


def test_an_empty_list_teaches(admin_client: Client, billing: ConsumerGroup) -> None:
    page = admin_client.get("/rebalances/").text
    assert "A rebalance appears here when members join or leave a group" in page
    assert "python manage.py aggregate" in page


def test_while_nothing_is_judged_it_claims_nothing(admin_client: Client, billing: ConsumerGroup) -> None:
    PipelineRun.objects.all().delete()
    page = said(admin_client.get("/rebalances/").text)
    assert "Rebalances are unknown: no run of the pipeline has finished yet" in page
    assert "No group rebalanced" not in page


def test_beside_old_rows_it_says_that_newer_ones_are_not_known(admin_client: Client, billing: ConsumerGroup) -> None:
    a_rebalance(billing)
    PipelineRun.objects.update(until=NOW - timedelta(minutes=9))
    assert "Unknown since then:" in admin_client.get("/rebalances/").text


def test_without_a_cluster_it_tells_the_command_that_adds_one(admin_client: Client) -> None:
    assert "manage.py cluster add" in admin_client.get("/rebalances/").text


@pytest.mark.parametrize("query", ["cause=magic", "page=0", "range=2y"])
def test_it_refuses_a_filter_that_it_does_not_know(admin_client: Client, billing: ConsumerGroup, query: str) -> None:
    response = admin_client.get(f"/rebalances/?{query}")
    assert response.status_code == 400
    assert "Allowed:" in response.text


def test_the_part_carries_the_freshness_of_the_top_bar(admin_client: Client, billing: ConsumerGroup) -> None:
    part = admin_client.get("/parts/rebalances/").text
    assert 'id="freshness" hx-swap-oob="true"' in part
    assert "<html" not in part


def test_fifty_rows_weigh_less_than_90_kb(admin_client: Client, billing: ConsumerGroup) -> None:
    for number in range(50):
        a_moved_topic(a_rebalance(billing, ago(600 + number)))
    assert len(admin_client.get("/rebalances/").content) < 90_000
