import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from consumers.models import Assignment, Broker, Client as Member, ConsumerGroup, Reading
from tests.browser.fleets import a_fleet, client_id, read_for_an_hour, trouble
from tests.rebalance_rows import a_rebalance, was_watched
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_total, ago

pytestmark = pytest.mark.django_db
URL = "/groups/prod/billing/ownership/"
BROKERS = ("broker-a", "broker-b")
FIRST, SECOND, THIRD = (client_id(number) for number in range(3))


@pytest.fixture
def group() -> ConsumerGroup:
    """Three members that share eight queues as RocketMQ shares them; the third joined half an hour ago."""
    cluster = a_cluster(read_at=None)
    for name in BROKERS:
        a_broker(cluster, name)
    read_for_an_hour(cluster)
    return a_fleet(cluster, "billing", "Orders", BROKERS, 8, 3)


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"<title>.*?</title>", " ", html)))


def said(client: Client, query: str = "") -> str:
    return text_of(client.get(f"{URL}{query}").text)


def rows_of(client: Client, table: str, query: str = "") -> list[str]:
    html = client.get(f"{URL}{query}").text
    found = re.search(rf'id="{table}".*?</table>', html, re.DOTALL)
    return [text_of(row).strip() for row in re.findall(r"<tr.*?</tr>", found[0], re.DOTALL)[1:]] if found else []


def test_a_quiet_group_says_what_it_was_checked_against(admin_client: Client, group: ConsumerGroup) -> None:
    text = said(admin_client)
    assert (
        "Assignment as expected · 8 of 8 queues with their expected owner, 3 members, AllocateMessageQueueAveragely"
        " · all reported 5 s ago" in text
    )
    assert "8 queues · 8 as expected" in text


def test_a_queue_without_an_owner_and_one_with_two_stand_first(admin_client: Client, group: ConsumerGroup) -> None:
    trouble(group)
    assert "8 queues · 6 as expected · 1 no owner · 1 several owners" in said(admin_client)
    first, second, third, *_rest = rows_of(admin_client, "scroll-owned")
    assert first.startswith(f"Orders / broker-a / 0 several owners {FIRST} {THIRD} {FIRST}")
    assert second.startswith(f"Orders / broker-b / 3 no owner none {THIRD}")
    assert third.startswith(f"Orders / broker-a / 1 as expected {FIRST} {FIRST}")


def test_what_is_wrong_stands_above_with_what_to_do(admin_client: Client, group: ConsumerGroup) -> None:
    trouble(group)
    text = said(admin_client)
    findings = text[text.index("Expected and actual owners") : text.index("Lag and owners")]
    assert "critical" in findings
    assert "no owner Orders / broker-b / 3" in findings
    assert "several owners Orders / broker-a / 0" in findings
    assert "6 of 8 queues with their expected owner" in findings
    assert "Assignment as expected" not in findings


def test_of_many_queues_only_those_that_differ_are_listed_until_all_are_asked_for(
    admin_client: Client, group: ConsumerGroup
) -> None:
    wide = a_fleet(group.cluster, "wide", "Wide", BROKERS, 120, 3)
    trouble(wide)
    few, all_of_them = (text_of(admin_client.get(f"/groups/prod/wide/ownership/{q}").text) for q in ("", "?all=1"))
    assert "unexpected 2 all 120" in few
    assert "Wide / broker-a / 7 " not in few
    assert "1–100 of 120 queues" in all_of_them
    assert "Wide / broker-a / 7 as expected" in all_of_them


def test_each_member_has_what_it_owns_beside_what_falls_to_it(admin_client: Client, group: ConsumerGroup) -> None:
    trouble(group)
    first, _second, third = rows_of(admin_client, "scroll-members")
    assert first.startswith(f"{FIRST} 10.0.1.100:53300 JAVA V5_4_0 AllocateMessageQueueAveragely concurrent Orders *")
    assert re.search(r"Orders \* 3 3 ", first)
    assert re.search(r"Orders \* 2 2 ", third)


def test_what_is_not_known_of_a_member_says_why(admin_client: Client, group: ConsumerGroup) -> None:
    silent = {"running_info_at": None, "running_info_error": "timed out after 3 s", "strategy": None, "orderly": None}
    Member.objects.filter(client_id=SECOND).update(version=None, **silent)
    row = next(row for row in rows_of(admin_client, "scroll-members") if row.startswith(SECOND))
    assert "unknown : not reported by the broker" in row
    assert row.count("unknown : timed out after 3 s") >= 3


def test_a_shared_client_id_is_loud(admin_client: Client, group: ConsumerGroup) -> None:
    doubled = {broker: ["10.0.1.101:53301", "10.0.1.101:60001"] for broker in BROKERS}
    Member.objects.filter(client_id=SECOND).update(duplicated_since=ago(300), connections=doubled)
    first, note, *_rest = rows_of(admin_client, "scroll-members")
    assert first.startswith(f"{SECOND} 10.0.1.101:53301 broker-a 10.0.1.101:60001 broker-a")
    assert note.startswith("two processes share this client ID")


def test_a_past_moment_shows_the_owners_of_then_and_leads_back(admin_client: Client, group: ConsumerGroup) -> None:
    then = "?at=2026-03-14T02:29:40Z&range=6h"
    rows = rows_of(admin_client, "scroll-owned", then)
    assert {re.findall(r"10\.0\.1\.\d+@\d+", row)[0] for row in rows} == {FIRST, SECOND}
    html = admin_client.get(f"{URL}{then}").text
    assert "The queues below are as of 02:29:40 UTC" in text_of(html)
    assert '<a href="?range=6h">Show newest</a>' in html
    assert "scroll-members" not in html
    assert 'data-figure="/figures/prod/billing/ownership/?at=2026-03-14T02%3A29%3A40Z&amp;range=6h"' in html


def test_between_two_answers_no_owner_is_claimed(admin_client: Client, group: ConsumerGroup) -> None:
    rows = rows_of(admin_client, "scroll-owned", "?at=2026-03-14T02:29:50Z")
    assert len([row for row in rows if "unknown" in row and "reassigned between" in row]) == 3


def test_members_that_subscribe_alike_say_so_on_one_line(admin_client: Client, group: ConsumerGroup) -> None:
    [row] = rows_of(admin_client, "scroll-subscriptions")
    assert row.startswith(f"Orders * {FIRST}, {SECOND}, {THIRD}")
    assert "No subscription conflicts in this range." in said(admin_client)


def test_a_difference_of_subscriptions_is_told_with_its_period(admin_client: Client, group: ConsumerGroup) -> None:
    mine = group.client_subscriptions.get(client_id=THIRD)
    mine.seen_since, mine.expression = ago(600), "TagA"
    mine.save()
    wanted = f"* : {FIRST}, {SECOND} TagA : {THIRD} from 02:50:00 UTC, still"
    assert f"differ Members subscribe to Orders differently: {wanted}" in said(admin_client)


def test_the_last_rebalances_lead_to_their_page_and_to_this_one_before_and_after(
    admin_client: Client, group: ConsumerGroup
) -> None:
    html = admin_client.get(URL).text
    assert 'href="/rebalances/prod/billing/2026-03-14T02:30:00.000000Z/"' in html
    assert 'href="?at=2026-03-14T02%3A29%3A45Z">before</a>' in html
    assert 'href="?at=2026-03-14T02%3A30%3A15Z">after</a>' in html


def test_a_group_that_flaps_says_so(admin_client: Client, group: ConsumerGroup) -> None:
    was_watched(group.cluster, 3600)
    for number in range(12):
        a_rebalance(group, ago(210 + 200 * number))
    assert re.search(r"flapping: (1\d) rebalances in \1 episodes, 1 h · ≥ \1", said(admin_client))


def test_the_owners_of_the_picture_are_named_in_their_colours(admin_client: Client, group: ConsumerGroup) -> None:
    html = admin_client.get(URL).text
    named = re.findall(r'swatch owner-(\d+)"></i> ([^<]+)</li>', html)
    assert named == [("1", FIRST), ("2", SECOND), ("3", THIRD)]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"message_model": "BROADCASTING"}, "Broadcasting group: every member owns every queue"),
        ({"consume_type": "CONSUME_POP"}, "POP group: members own no queues"),
    ],
)
def test_groups_that_share_out_no_queues_say_why(
    admin_client: Client, group: ConsumerGroup, fields: dict[str, str], sentence: str
) -> None:
    trouble(group)
    ConsumerGroup.objects.filter(pk=group.pk).update(**fields)
    text = said(admin_client)
    assert sentence in text
    assert "several owners Orders" not in text
    assert "1 no owner" not in text


def test_a_group_without_a_member_owns_nothing_and_raises_no_alarm(admin_client: Client, group: ConsumerGroup) -> None:
    Member.objects.update(gone_by=ago(100), last_seen=ago(115))
    Assignment.objects.filter(gone_by=None).update(gone_by=ago(100), last_seen=ago(115))
    ConsumerGroup.objects.update(online=False, members=0, settled_at=ago(85), members_changed_at=ago(100))
    text = said(admin_client)
    assert "8 queues · 8 no member" in text
    assert "The group has no members: its queues are unowned." in text
    assert "the group has no member" in text


def test_of_a_group_that_was_never_asked_nothing_is_claimed(admin_client: Client, group: ConsumerGroup) -> None:
    fresh = a_group(group.cluster, "fresh", online=None, members=None, membership_at=None)
    a_total(fresh, 5)
    a_judged_group(fresh)
    text = text_of(admin_client.get("/groups/prod/fresh/ownership/").text)
    assert "No queue of this group is known yet." in text
    assert "Members unknown" in text
    assert "Assignment as expected" not in text
    assert "No rebalance is known. A rebalance appears here when members or queue owners differ" in text


def test_while_nothing_is_read_the_last_owners_are_not_said_to_own(admin_client: Client, group: ConsumerGroup) -> None:
    Reading.objects.filter(taken_at__gt=ago(900)).delete()
    group.cluster.brokers.update(last_read_at=ago(900), failing_since=ago(880), error="connection refused")
    text = said(admin_client)
    assert "8 queues · 8 unknown" in text
    assert "as expected" not in text


def test_its_part_refreshes_freshness_tables_and_tabs(admin_client: Client, group: ConsumerGroup) -> None:
    part = admin_client.get(f"/parts{URL}?topic=Orders").text
    assert 'id="freshness" hx-swap-oob="true"' in part
    assert 'id="rows" hx-swap-oob="true"' in part
    assert 'id="tab-group_ownership" href="/groups/prod/billing/ownership/" aria-current="page"' in part
    assert "<html" not in part


@pytest.mark.parametrize("query", ["?topic=Nothing", "?all=2", "?page=0", "?at=yesterday", "?at=2026-03-15T00:00:00Z"])
def test_it_refuses_what_it_does_not_know(admin_client: Client, group: ConsumerGroup, query: str) -> None:
    assert admin_client.get(f"{URL}{query}").status_code == 400


def test_a_group_that_was_never_read_is_not_found(admin_client: Client, group: ConsumerGroup) -> None:
    assert admin_client.get("/groups/prod/nobody/ownership/").status_code == 404


def test_nobody_sees_it_without_logging_in(client: Client, group: ConsumerGroup) -> None:
    assert client.get(URL).status_code == 302


def test_its_figure_draws_every_queue_and_marks_the_rebalance(admin_client: Client, group: ConsumerGroup) -> None:
    drawn: dict[str, Any] = admin_client.get("/figures/prod/billing/ownership/").json()
    assert len(drawn["data"][0]["names"]) == 8
    assert [trace["name"] for trace in drawn["data"] if trace.get("mode") == "lines+text"] == ["rebalances"]


def test_its_figure_shares_its_axis_with_the_lag_above_it(admin_client: Client, group: ConsumerGroup) -> None:
    with time_machine.travel(NOW + timedelta(seconds=42), tick=False):
        figures = (admin_client.get(f"/figures/prod/billing/{name}/").json() for name in ("lag", "ownership"))
        lag, owners = (figure["layout"] for figure in figures)
    assert owners["xaxis"]["range"] == lag["xaxis"]["range"]
    assert owners["margin"]["l"] == lag["margin"]["l"]


@pytest.mark.parametrize("query", ["?topic=Orders", "?topic=Refunds"])
def test_its_figure_keeps_to_the_topic_that_was_chosen(admin_client: Client, group: ConsumerGroup, query: str) -> None:
    names = admin_client.get(f"/figures/prod/billing/ownership/{query}").json()["data"][0]["names"]
    assert len(names) == (8 if "Orders" in query else 0)


def test_its_figure_is_of_a_group_that_was_read(admin_client: Client, group: ConsumerGroup) -> None:
    assert admin_client.get("/figures/prod/nobody/ownership/").status_code == 404


def test_subscriptions_that_are_too_many_for_one_answer_are_unknown_with_the_reason(
    admin_client: Client, group: ConsumerGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("consumers.ownership.subscriptions.MOST_ROWS", 0)
    text = said(admin_client)
    assert "The range has more than 0 subscriptions. Use a shorter range." in text
    assert "No subscription conflicts in this range." not in text


def test_settings_of_members_say_once_brokers_are_not_scraped_that_they_may_be_outdated(
    admin_client: Client, group: ConsumerGroup
) -> None:
    Member.objects.update(settings={"consumeTimeout": "15"}, running_info_at=ago(20), running_info_error=None)
    page = "/groups/prod/billing/settings/"
    assert "May be outdated:" not in text_of(admin_client.get(page).text)
    Broker.objects.update(last_read_at=ago(600))
    assert "May be outdated: broker-a has not been read for more than 45 s" in text_of(admin_client.get(page).text)
