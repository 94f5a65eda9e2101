import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client

from consumers.models import ClientSubscription, Cluster, ConsumerGroup, GroupState, GroupWindow
from dashboard.pages.groups import NUMBERS
from tests.alert_rows import a_note
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db


def names(client: Client, query: str = "") -> list[str]:
    return re.findall(r'id="group-\d+"[^>]*>([^<]+)<', client.get(f"/groups/?{query}").text)


def row_of(client: Client, name: str) -> str:
    return next(row for row in client.get("/groups/").text.split("<tr>") if f">{name}</a>" in row)


@pytest.fixture
def cluster() -> Cluster:
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


def an_ok_group(cluster: Cluster, name: str, lag: int = 0) -> ConsumerGroup:
    group = a_group(cluster, name)
    a_total(group, lag)
    a_judged_group(group, time_lag_seconds=float(lag))
    return group


def test_it_searches_on_the_server(admin_client: Client, cluster: Cluster) -> None:
    an_ok_group(cluster, "billing")
    an_ok_group(cluster, "audit")
    assert names(admin_client, "search=BILL") == ["billing"]


def test_a_chip_shows_one_state_and_then_all_again(admin_client: Client, cluster: Cluster) -> None:
    an_ok_group(cluster, "billing")
    a_judged_group(a_group(cluster, "audit"), "STOP")
    assert names(admin_client, "state=STOP") == ["audit"]
    chips = dict(re.findall(r'id="chip-(\w+)" href="([^"]*)"', admin_client.get("/groups/?state=STOP").text))
    assert chips["stop"] == "?"
    assert chips["ok"] == "?state=OK"


@pytest.mark.parametrize(("ordering", "order"), [("-lag_messages", ["b", "c", "a"]), ("lag_messages", ["a", "c", "b"])])
def test_it_sorts_by_a_column(admin_client: Client, cluster: Cluster, ordering: str, order: list[str]) -> None:
    for name, lag in (("a", 1), ("b", 30), ("c", 4)):
        an_ok_group(cluster, name, lag)
    assert names(admin_client, f"ordering={ordering}") == order


def test_a_second_press_sorts_the_other_way(admin_client: Client, cluster: Cluster) -> None:
    an_ok_group(cluster, "billing")
    page = admin_client.get("/groups/?ordering=-lag_messages").text
    (head,) = re.findall(r'<th[^>]* aria-sort="descending"[^>]*>(<a [^>]*>)', page)
    assert head == '<a id="sort-lag_messages" href="?ordering=lag_messages">'


def test_it_pages_and_keeps_the_filters(admin_client: Client, cluster: Cluster) -> None:
    for number in range(31):
        an_ok_group(cluster, f"group-{number:02}")
    page = admin_client.get("/groups/?state=OK").text
    assert "1–30 of 31 groups" in page
    assert 'href="?state=OK&amp;page=2"' in page
    assert names(admin_client, "state=OK&page=2") == ["group-30"]


def test_a_new_filter_begins_at_the_first_page(admin_client: Client, cluster: Cluster) -> None:
    an_ok_group(cluster, "billing")
    assert "page=" not in re.findall(r'id="chip-ok" href="([^"]*)"', admin_client.get("/groups/?page=2").text)[0]


def test_what_a_dead_broker_hides_is_unknown_and_no_number(admin_client: Client) -> None:
    cluster = a_cluster()
    a_dead_broker(cluster)
    a_total(a_group(cluster, "billing"), None, unknown_queues=4, unknown_reason="connection refused")
    said = re.sub(r"<svg.*?</svg>|<[^>]+>", " ", row_of(admin_client, "billing"))
    assert "unknown" in said
    assert "last success 02:55:00" in re.sub(r"\s+", " ", said)
    assert "broker-b could not be read: connection refused" in said
    assert not re.search(r"(?<![\d:])0(?![\d:])", said)


def test_the_line_has_a_hatched_gap_where_lag_was_unknown(admin_client: Client, cluster: Cluster) -> None:
    group = an_ok_group(cluster, "billing")
    for minutes in (1, 2, 4, 5):
        start = NOW - timedelta(minutes=minutes)
        GroupWindow.objects.create(group=group, step_seconds=60, start=start, lag_messages=500, readings=4)
    assert row_of(admin_client, "billing").count("<polyline") == 2


def test_the_cluster_is_a_column_only_where_there_are_several(admin_client: Client, cluster: Cluster) -> None:
    an_ok_group(cluster, "billing")
    assert "sort-cluster" not in admin_client.get("/groups/").text
    a_cluster("second")
    assert "sort-cluster" in admin_client.get("/groups/").text


def test_a_search_without_a_match_leads_back_to_all(admin_client: Client, cluster: Cluster) -> None:
    assert "No group matches" in admin_client.get("/groups/?search=nothing").text


@pytest.mark.parametrize("query", ["state=BROKEN", "online=maybe", "ordering=colour", "page=0", "page=x", "range=2y"])
def test_it_refuses_a_filter_that_it_does_not_know(admin_client: Client, query: str) -> None:
    response = admin_client.get(f"/groups/?{query}")
    assert response.status_code == 400
    assert "Allowed:" in response.text


def test_thirty_groups_with_lines_weigh_less_than_100_kb(admin_client: Client, cluster: Cluster) -> None:
    for number in range(40):
        group = an_ok_group(cluster, f"a-group-of-usual-length-{number:02}", number)
        windows = [
            GroupWindow(group=group, step_seconds=60, start=NOW - timedelta(minutes=i), lag_messages=i * 37, readings=4)
            for i in range(60)
        ]
        GroupWindow.objects.bulk_create(windows)
    assert len(admin_client.get("/groups/").content) < 100_000


def test_the_last_rebalance_leads_to_its_page(admin_client: Client, cluster: Cluster) -> None:
    an_ok_group(cluster, "billing")
    an_ok_group(cluster, "audit")
    GroupState.objects.filter(group__name="billing").update(last_rebalance_at=ago(600))
    assert 'href="/rebalances/prod/billing/2026-03-14T02:50:00.000000Z/"' in row_of(admin_client, "billing")
    assert "none seen" in row_of(admin_client, "audit")
    assert names(admin_client, "ordering=-last_rebalance_at") == ["billing", "audit"]


GHOST = {"online": False, "members": 0, "offline_since": ago(9 * 86400), "first_seen_at": ago(10 * 86400)}


def test_ghosts_and_system_groups_are_lists_of_their_own(admin_client: Client, cluster: Cluster) -> None:
    an_ok_group(cluster, "billing")
    a_total(a_group(cluster, "forgotten", **GHOST), 5000)
    a_total(a_group(cluster, "CID_RMQ_SYS_TRANS", kind="system"), 70)
    assert [names(admin_client, query) for query in ("", "kind=ghost", "kind=system")] == [
        ["billing"],
        ["forgotten"],
        ["CID_RMQ_SYS_TRANS"],
    ]
    assert ">inactive 1<" in admin_client.get("/groups/").text


def test_it_refuses_a_kind_that_is_none(admin_client: Client, cluster: Cluster) -> None:
    assert admin_client.get("/groups/?kind=odd").status_code == 400


def test_a_ghost_is_at_rest_with_its_reason(admin_client: Client, cluster: Cluster) -> None:
    group = a_group(cluster, "forgotten", **GHOST)
    a_total(group, 5000)
    a_judged_group(group, rule="inactive")
    page = admin_client.get("/groups/?kind=ghost").text
    assert 'class="at-rest"' in page
    assert "no member, and nothing consumed for 9 days" in page


def test_progress_that_is_kept_elsewhere_is_said_once_in_a_row(admin_client: Client, cluster: Cluster) -> None:
    reason = "com.shop.RedisOffsetStore stores its offsets, not the brokers"
    a_total(a_group(cluster, "ledger", outside_store="com.shop.RedisOffsetStore"), None, unknown_reason=reason)
    row = row_of(admin_client, "ledger")
    assert f'class="tag" title="{reason}">progress stored outside<' in row
    assert "last success" not in row
    assert 'class="why"' not in row


def test_columns_of_numbers_stand_in_the_order_that_their_row_gives_them():
    assert NUMBERS[:4] == ["lag_messages", "time_lag_seconds", "produce_rate", "consume_rate"]
    assert NUMBERS[-1] == "dlq_day_messages"


def test_only_the_chosen_columns_are_shown_beside_the_lag(admin_client: Client, cluster: Cluster) -> None:
    an_ok_group(cluster, "billing")
    page = admin_client.get("/groups/?columns=time_lag_seconds&columns=taken_at").text
    heads = re.findall(r'id="sort-(\w+)"', page)
    assert heads == ["health", "state", "group", "lag_messages", "time_lag_seconds", "taken_at"]
    assert "lag in the range" not in page


def test_a_column_that_does_not_exist_is_refused(admin_client: Client, cluster: Cluster) -> None:
    assert admin_client.get("/groups/?columns=colour").status_code == 400


def test_the_sort_links_keep_the_chosen_columns(admin_client: Client, cluster: Cluster) -> None:
    an_ok_group(cluster, "billing")
    page = admin_client.get("/groups/?columns=time_lag_seconds&columns=taken_at").text
    assert 'href="?columns=time_lag_seconds&amp;columns=taken_at&amp;ordering=-taken_at"' in page


def test_a_topic_lists_its_consumers_and_its_subscribers(admin_client: Client, cluster: Cluster) -> None:
    a_snapshot(an_ok_group(cluster, "billing"), a_queue(cluster, "Orders"), 5, 5)
    ClientSubscription.objects.create(
        group=an_ok_group(cluster, "audit"), client_id="c", topic="Orders", seen_since=ago(60), last_seen=ago(5)
    )
    an_ok_group(cluster, "stock")
    assert sorted(names(admin_client, "topic=Orders")) == ["audit", "billing"]
    assert names(admin_client, "topic=Stock") == []


def test_an_owner_a_label_and_a_broker_narrow_the_list(admin_client: Client, cluster: Cluster) -> None:
    a_snapshot(an_ok_group(cluster, "billing"), a_queue(cluster, "Orders"), 5, 5)
    an_ok_group(cluster, "stock")
    a_note("bill*", owner="payments-team", labels={"team": "payments"})
    for query in ("owner=payments-team", "label=team%3Dpayments", "label=team", "broker=broker-a"):
        assert names(admin_client, query) == ["billing"], query
    page = admin_client.get("/groups/?owner=payments-team&topic=Orders").text
    assert '<b class="name">payments-team</b> <a href="?topic=Orders">all owners</a>' in page
    assert '<option value="team=payments"></option>' in page


def test_what_is_no_label_is_refused(admin_client: Client, cluster: Cluster) -> None:
    answer = admin_client.get("/groups/?label=%3Dpayments")
    assert (answer.status_code, "NAME=VALUE" in answer.text) == (400, True)


def test_the_list_is_exported_as_it_is_filtered(admin_client: Client, cluster: Cluster) -> None:
    for name in ("billing", "stock"):
        an_ok_group(cluster, name)
    a_note("bill*", owner="payments-team")
    page = admin_client.get("/groups/?owner=payments-team&online=yes&columns=taken_at").text
    [href] = re.findall(r'id="export-groups" href="([^"]+)"', page)
    answer = admin_client.get(unescape(href))
    rows = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert ["billing" in row for row in rows] == [False, True]
