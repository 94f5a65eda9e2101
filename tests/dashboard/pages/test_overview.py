import re
from datetime import timedelta

import pytest
from django.test import Client

from consumers.models import Cluster, ConsumerGroup, GroupState, GroupWindow, PipelineRun, StateChange
from tests.alert_rows import a_rule, an_evaluation, an_incident
from tests.rebalance_rows import a_rebalance, was_watched
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


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def a_stalled_group(name: str = "inventory") -> None:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster, name)
    a_total(group, 9120)
    queue = a_queue(cluster, "Stock", 3)
    a_snapshot(group, queue, 0, 9120)
    detail = {"still_seconds": 720}
    a_judged_group(group, "STALL", rule="blocked", detail=detail, worst_queue=queue, time_lag_seconds=720.0)
    StateChange.objects.create(group=group, at=ago(720), before="OK", after="STALL", rule="blocked", detail=detail)


def test_it_counts_groups_by_state_and_leads_to_them(admin_client: Client) -> None:
    a_stalled_group()
    page = admin_client.get("/?range=6h").text
    assert 'href="/groups/?range=6h&amp;state=STALL"' in page
    assert "1 STALL" in text_of(page)
    assert "0 STOP" in text_of(page)


def test_no_state_has_a_count_before_a_group_was_scraped(admin_client: Client) -> None:
    a_cluster("staging")
    page = admin_client.get("/?cluster=staging").text
    assert "No consumer group has been scraped yet." in page
    assert 'id="count-' not in page


@pytest.mark.parametrize(
    ("fields", "is_told"),
    [
        ({"measure": "state"}, False),
        ({"measure": "state", "subject_kind": "topic", "topic_name": "Stock"}, True),
        ({"measure": "blocked_seconds"}, True),
    ],
    ids=["the group's state stands below", "that of a topic does not", "what else fires does not"],
)
@pytest.mark.parametrize(("path", "begin"), [("/", 'id="firing-now"'), ("/groups/prod/inventory/", 'class="causes"')])
def test_an_alert_does_not_repeat_the_state_beside_it(
    admin_client: Client, fields: dict[str, str], is_told: bool, path: str, begin: str
) -> None:
    a_stalled_group()
    an_evaluation(ago(6))
    rule = a_rule(name="Of ours", measure=fields["measure"])
    an_incident(rule, ConsumerGroup.objects.get(), evidence="still for 12 min", **fields)
    alerts = admin_client.get(path).text.partition(begin)[2].partition("</ul>")[0]
    assert "Of ours" in alerts
    assert ("still for 12 min" in alerts) is is_told


def test_changes_beyond_those_that_are_drawn_are_counted_and_said_to_be_left_out(admin_client: Client) -> None:
    a_stalled_group()
    group = ConsumerGroup.objects.get()
    StateChange.objects.bulk_create(
        StateChange(group=group, at=ago(700 - number), before="OK", after="WARN", rule="falling_behind", detail={})
        for number in range(204)
    )
    said = text_of(admin_client.get("/").text)
    assert "205 state changes" in said
    assert "Only the newest are listed of: States." in said


def test_it_says_what_is_wrong_where_and_since_when(admin_client: Client) -> None:
    a_stalled_group()
    said = text_of(admin_client.get("/").text)
    assert "queue 3 of Stock on broker-a: no commit for 12 min" in said
    assert "no commit for 12 min" in said
    assert "9,120 messages" in said


def test_each_group_leads_to_its_page(admin_client: Client) -> None:
    a_stalled_group("100%_sure")
    assert 'href="/groups/prod/100%25_sure/"' in admin_client.get("/").text


def test_a_change_of_state_is_a_mark_that_leads_to_its_group(admin_client: Client) -> None:
    a_stalled_group()
    strip = admin_client.get("/").text.split('class="strip"')[1].split("</svg></section>")[0]
    assert 'href="/groups/prod/inventory/"' in strip
    assert "OK → STALL" in strip


def test_changes_of_one_cause_and_minute_are_one_mark_that_opens_to_their_list(admin_client: Client) -> None:
    a_stalled_group()
    first = StateChange.objects.get()
    for number in range(3):
        group = a_group(first.group.cluster, f"stock-{number}")
        StateChange.objects.create(
            group=group, at=first.at, before="OK", after="STALL", rule=first.rule, detail=first.detail
        )
    page = admin_client.get("/").text
    [anchor] = re.findall(r'<a href="#(changes-stall-[0-9]+)"', page)
    listed = page.split(f'<ul id="{anchor}">')[1].split("</ul>")[0]
    assert listed.count("<li>") == 4
    assert 'href="/groups/prod/stock-2/"' in listed
    assert "02:48 UTC · 4 × STALL: blocked" in text_of(page)
    assert "4 state changes" in page


def test_a_change_before_the_range_is_no_mark(admin_client: Client) -> None:
    a_stalled_group()
    StateChange.objects.update(at=ago(901))
    assert "0 state changes" in admin_client.get("/?range=15m").text


def test_rebalances_of_a_range_that_was_partly_watched_are_a_lower_bound(admin_client: Client) -> None:
    a_stalled_group()
    assert "≥ 0 rebalances<" in admin_client.get("/").text
    was_watched(Cluster.objects.get(), 3600)
    page = admin_client.get("/").text
    assert ">0 rebalances<" in page


def test_a_rebalance_is_a_mark_that_leads_to_it(admin_client: Client) -> None:
    a_stalled_group()
    a_rebalance(ConsumerGroup.objects.get())
    page = admin_client.get("/").text
    strip = page.split('class="strip"')[1].split("</svg></section>")[0]
    assert 'href="/rebalances/prod/inventory/2026-03-14T02:50:00.000000Z/"' in strip
    assert "02:50:00 UTC · inventory · rebalance: joined" in strip
    assert "1 rebalance<" in page


def test_a_group_that_flaps_is_one_mark_with_its_count(admin_client: Client) -> None:
    a_stalled_group()
    for number in range(1, 8):
        a_rebalance(ConsumerGroup.objects.get(), ago(300 * number))
    page = admin_client.get("/").text
    assert page.count("state-rebalance") == 1
    assert "inventory · flapping: 7 rebalances in 7 episodes" in page
    assert 'href="/rebalances/?group=inventory&amp;cluster=prod"' in page
    assert "7 rebalances<" in page


def test_a_dead_broker_is_one_row_with_the_count_of_its_groups(admin_client: Client) -> None:
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster)
    for name in ("one", "two", "three"):
        group = a_group(cluster, name)
        a_total(group, None, lag_messages_at_least=0, unknown_queues=1, unknown_reason="connection refused")
        a_snapshot(group, a_queue(cluster, broker="broker-b"), None, None)
        a_judged_group(group)
    said = text_of(admin_client.get("/").text)
    assert said.count("broker-b could not be read: connection refused prod") == 1
    assert "3 groups" in said
    assert "last success 02:55:00" in said


def test_totals_are_unknown_while_a_group_is(admin_client: Client) -> None:
    cluster = a_cluster()
    a_dead_broker(cluster)
    a_total(a_group(cluster), 7)
    facts = text_of(admin_client.get("/").text.split('<dl class="facts main">')[1].split("</dl>")[0])
    assert facts.count("unknown") == 4
    assert not re.search(r"\b0\b", facts)


def test_without_a_cluster_it_tells_the_command_that_adds_one(admin_client: Client) -> None:
    assert "manage.py cluster add" in admin_client.get("/").text


def test_without_groups_it_tells_the_command_that_reads_them(admin_client: Client) -> None:
    a_cluster()
    assert "manage.py poll" in admin_client.get("/").text


@pytest.mark.parametrize(("query", "status"), [("range=2h", 400), ("cluster=nowhere", 404)])
def test_it_refuses_what_it_does_not_know(admin_client: Client, query: str, status: int) -> None:
    response = admin_client.get(f"/?{query}")
    assert response.status_code == status
    assert query.partition("=")[2] in response.text


def test_the_part_carries_the_freshness_of_the_top_bar(admin_client: Client) -> None:
    a_broker(a_cluster())
    part = admin_client.get("/parts/overview/").text
    assert 'id="freshness" hx-swap-oob="true"' in part
    assert "scraped 5 s ago · 1 of 1 broker" in part
    assert "<html" not in part


def test_it_lists_each_cluster_with_its_brokers_and_newest_scrape(admin_client: Client) -> None:
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster)
    [row] = re.findall(r'<tr>\s*<th scope="row"><a id="cluster-prod".*?</tr>', admin_client.get("/").text, re.DOTALL)
    assert "broker-b could not be read: connection refused" in text_of(row)
    assert " 1/2 " in text_of(row)
    assert "5 s ago" in text_of(row)


def test_a_group_with_a_bad_state_stays_listed_while_evaluation_is_late(admin_client: Client) -> None:
    a_stalled_group()
    GroupState.objects.update(judged_at=ago(480))
    said = text_of(admin_client.get("/").text)
    assert "STALL as of 02:52:00 ( 8 min ago ) inventory" in said
    assert "Evaluation is late : no evaluation yet. No run was ever started." in said
    for page in ("/groups/", "/groups/prod/inventory/"):
        assert "as of 02:52:00 ( 8 min ago )" in text_of(admin_client.get(page).text), page


def test_it_says_of_no_group_that_nothing_needs_attention_while_a_rule_fires(admin_client: Client) -> None:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_total(group, 0)
    a_judged_group(group)
    # Nobody has looked yet for what is wrong beside its state.
    assert "No group is critical or warning. 1 group is unknown" in text_of(admin_client.get("/").text)
    an_incident(a_rule(), group)
    said = text_of(admin_client.get("/").text)
    assert "No group has the health" not in said
    assert "1 group is unknown" in said


def test_the_banner_is_refreshed_with_the_part_and_goes_when_evaluation_is_in_time(admin_client: Client) -> None:
    a_stalled_group()
    part = admin_client.get("/parts/overview/", headers={"HX-Request": "true"})
    assert 'id="late-evaluation" class="late-evaluation" hx-swap-oob="true">' in part.text
    PipelineRun.objects.create(since=ago(80), until=ago(20), started_at=ago(20), finished_at=ago(15))
    part = admin_client.get("/parts/overview/", headers={"HX-Request": "true"})
    assert 'id="late-evaluation" class="late-evaluation" hx-swap-oob="true" hidden>' in part.text


def fleet_window(name: str, lag: int | None, cluster: Cluster) -> None:
    rates = {"produce_rate": 2.0, "consume_rate": 1.5} if lag is not None else {"unknown_reason": "broker_unread"}
    start = NOW - timedelta(minutes=1)
    GroupWindow.objects.create(
        group=a_group(cluster, name), step_seconds=60, start=start, lag_messages=lag, readings=4, **rates
    )


def test_the_fleet_s_lines_have_a_gap_where_a_group_is_unknown_and_its_known_part_beside(admin_client: Client) -> None:
    cluster = a_cluster()
    a_broker(cluster)
    PipelineRun.objects.create(since=ago(90), until=NOW, started_at=NOW, finished_at=NOW)
    fleet_window("billing", 30, cluster)
    drawn = admin_client.get("/figures/fleet-lag/?range=15m").json()
    assert [trace["name"] for trace in drawn["data"]] == ["lag", "unknown"]
    fleet_window("stock", None, cluster)
    drawn = admin_client.get("/figures/fleet-rates/?range=15m").json()
    last = {trace["name"]: (trace["y"][-1], trace["line"].get("dash")) for trace in drawn["data"][:-1]}
    assert last == {
        "produced": (None, None), "consumed": (None, None),
        "produced, at least": (2.0, "dot"), "consumed, at least": (1.5, "dot"),
    }  # fmt: skip
    reason = "no data for 1 of 2 groups: a broker of this group was not read"
    assert drawn["data"][-1]["customdata"][-1] == f"produced, consumed: {reason}"


def test_windows_in_which_all_groups_are_known_are_not_hatched(admin_client: Client) -> None:
    cluster = a_cluster()
    a_broker(cluster)
    PipelineRun.objects.create(since=ago(90), until=NOW, started_at=NOW, finished_at=NOW)
    fleet_window("billing", 30, cluster)
    hatch = admin_client.get("/figures/fleet-lag/?range=15m").json()["data"][-1]
    assert hatch["x"][-1] < "2026-03-14 02:59:00"
