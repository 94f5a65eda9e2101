"""The page of one rebalance: evidence, before and after, cost, and the lag around it."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from consumers.models import Assignment, ConsumerGroup, GroupWindow, PipelineRun
from tests.rebalance_rows import a_move, a_moved_topic, a_rebalance
from tests.world import NOW, a_cluster, a_group, a_queue, ago

pytestmark = pytest.mark.django_db
PAGE = "/rebalances/prod/billing/2026-03-14T02:50:00.000000Z/"
FIGURE = "/figures/prod/billing/rebalances/2026-03-14T02:50:00.000000Z/"


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


def said(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_it_says_what_it_was_told_by_and_the_line_to_search_for(admin_client: Client, billing: ConsumerGroup) -> None:
    gone = {"cause": "gone", "client_id": "10.0.0.8@3312"}
    joined = {"cause": "joined", "client_id": "10.0.0.9@3312", "address": "10.0.0.9:41022"}
    a_rebalance(billing, cause="gone, joined", evidence=[gone, joined])
    page = admin_client.get(PAGE).text
    assert "10.0.0.8@3312 left or crashed between 02:49:45 and 02:50:00 UTC" in page
    assert "10.0.0.9@3312 joined from 10.0.0.9:41022 between" in page
    assert "grep -F &#x27;new consumer connected, group: billing &#x27; broker.log" in page.replace("'", "&#x27;")


def test_it_says_what_it_cost(admin_client: Client, billing: ConsumerGroup) -> None:
    a_moved_topic(a_rebalance(billing))
    facts = said(admin_client.get(PAGE).text.partition('<dl class="facts">')[2].partition("</dl>")[0])
    assert "Members 2 → 3 Queues moved 1 of 8 Unowned 15 s summed over queues" in facts
    assert "Redelivered 3 to 11 messages Lag before → peak 120 → 480" in facts


def test_each_queue_that_moved_has_its_row(admin_client: Client, billing: ConsumerGroup) -> None:
    lapsed = a_move(2, before=(), after=("a@1", "b@1"), replayed_messages=None, replayed_messages_low=None,
                    unknown={"replayed_messages": "its old owner never said"})  # fmt: skip
    a_moved_topic(a_rebalance(billing), moves=[a_move(1), lapsed])
    page = said(admin_client.get(PAGE).text)
    assert "broker-a / 1 10.0.0.7@3312 10.0.0.9@3312 15 s (0 s to 30 s) 0 s 3 to 11" in page
    assert "broker-a / 2 no owner a@1, b@1" in page
    assert "unknown : its old owner never said" in page


def test_the_picture_has_the_queues_that_stayed_too(admin_client: Client, billing: ConsumerGroup) -> None:
    queue = a_queue(billing.cluster, "Orders", 5)
    Assignment.objects.create(
        group=billing, queue=queue, client_id="10.0.0.8@3312", seen_since=ago(9000), last_seen=NOW
    )
    a_moved_topic(a_rebalance(billing), moves=[a_move(1)])
    picture = re.findall(r'<svg class="before-after".*?</svg>', admin_client.get(PAGE).text, re.DOTALL)[0]
    assert 'aria-label="before (top) and after (bottom): 1 of 2 queues of Orders moved"' in picture
    assert re.search(r'class="owner-2 stayed"[^>]*><title>10.0.0.8@3312<', picture)
    assert re.search(r'class="owner-1 moved"[^>]*><title>10.0.0.7@3312<', picture)


def test_what_is_not_among_the_moves_is_not_said_to_have_stayed_where_moves_are_not_known(
    admin_client: Client, billing: ConsumerGroup
) -> None:
    queue = a_queue(billing.cluster, "Orders", 5)
    Assignment.objects.create(
        group=billing, queue=queue, client_id="10.0.0.8@3312", seen_since=ago(9000), last_seen=NOW
    )
    a_moved_topic(a_rebalance(billing), moves=[], queues_moved=None)
    picture = re.findall(r'<svg class="before-after".*?</svg>', admin_client.get(PAGE).text, re.DOTALL)[0]
    assert "which queues moved is unknown" in picture
    assert "stayed" not in picture
    assert "<title>unknown</title>" in picture


def test_members_are_counted_before_and_after(admin_client: Client, billing: ConsumerGroup) -> None:
    a_moved_topic(a_rebalance(billing), moves=[a_move(0), a_move(1, before=("10.0.0.8@3312",))])
    owners = said(admin_client.get(PAGE).text.partition('<ul class="owners">')[2].partition("</ul>")[0])
    assert owners == " 10.0.0.9@3312 joined 0 → 2 queues 10.0.0.7@3312 1 → 0 queues 10.0.0.8@3312 1 → 0 queues "


def test_a_member_has_no_count_while_one_queue_is_not_known(admin_client: Client, billing: ConsumerGroup) -> None:
    a_queue(billing.cluster, "Orders", 5)
    a_moved_topic(a_rebalance(billing), moves=[a_move(0)])
    owners = said(admin_client.get(PAGE).text.partition('<ul class="owners">')[2].partition("</ul>")[0])
    assert owners.count("queue owners are unknown") == 3


def test_a_thousand_moves_are_shown_on_demand(admin_client: Client, billing: ConsumerGroup) -> None:
    a_moved_topic(a_rebalance(billing), moves=[a_move(number) for number in range(1000)])
    page = admin_client.get(PAGE).text
    assert page.count('<th scope="row">broker-a') == 40
    assert '<a href="?all=1">Show 960 more</a>' in page
    assert len(page) < 150_000
    assert admin_client.get(f"{PAGE}?all=1").text.count('<th scope="row">broker-a') == 1000


def test_the_others_of_its_episode_lead_to_their_pages(admin_client: Client, billing: ConsumerGroup) -> None:
    for seconds in (600, 550):
        a_rebalance(billing, ago(seconds), episode_since=ago(600))
    page = admin_client.get(PAGE).text
    assert "2 rebalances in 1 episode: the others" in page
    assert 'href="/rebalances/prod/billing/2026-03-14T02:50:50.000000Z/"' in page


def test_what_became_of_its_own_queues_stands_before_the_others_of_its_episode(
    admin_client: Client, billing: ConsumerGroup
) -> None:
    for seconds in (600, 550):
        a_rebalance(billing, ago(seconds), episode_since=ago(600))
    page = said(admin_client.get(PAGE).text)
    assert page.index("Evidence") < page.index("Effect on queues") < page.index("in 1 episode: the others")


def test_the_figure_is_the_lag_around_it_with_its_time_marked(admin_client: Client, billing: ConsumerGroup) -> None:
    a_rebalance(billing)
    PipelineRun.objects.create(since=ago(3600), until=NOW, started_at=NOW, finished_at=NOW)
    GroupWindow.objects.create(group=billing, step_seconds=60, start=ago(720), lag_messages=480, readings=4)
    figure = admin_client.get(FIGURE).json()
    assert figure["layout"]["xaxis"]["range"][0] == "2026-03-14 02:39:00"
    assert figure["layout"]["xaxis"]["range"][1] == "2026-03-14 03:00:00"
    band = figure["layout"]["shapes"][-1]
    assert (band["x0"], band["x1"]) == ("2026-03-14 02:49:45", "2026-03-14 02:50:15")
    assert 480 in next(trace for trace in figure["data"] if trace["name"] == "all topics")["y"]


def test_of_long_ago_the_figure_has_windows_of_ten_minutes(admin_client: Client, billing: ConsumerGroup) -> None:
    at = NOW - timedelta(days=8)
    a_rebalance(billing, at)
    figure = admin_client.get(f"/figures/prod/billing/rebalances/{at:%Y-%m-%dT%H:%M:%S.%fZ}/").json()
    assert figure["layout"]["xaxis"]["range"] == ["2026-03-06 00:50:00", "2026-03-06 07:00:15"]


@pytest.mark.parametrize(
    "path", [PAGE, FIGURE, PAGE.replace("/rebalances/prod", "/parts/rebalances/prod"), PAGE.replace("02:50", "noon")]
)
def test_another_moment_has_none(admin_client: Client, billing: ConsumerGroup, path: str) -> None:
    assert admin_client.get(path).status_code == 404


def test_it_refuses_what_it_does_not_know(admin_client: Client, billing: ConsumerGroup) -> None:
    a_rebalance(billing)
    assert admin_client.get(f"{PAGE}?all=yes").status_code == 400


@pytest.mark.parametrize(
    ("seconds", "sentence"),
    [
        (0.0, "No queue of this topic was seen to move, to be unowned, or to have two owners."),
        (None, "No queue of this topic was seen to move."),
    ],
)
def test_a_topic_whose_unowned_time_is_unknown_is_not_said_to_have_had_owners(
    admin_client: Client, billing: ConsumerGroup, seconds: float | None, sentence: str
) -> None:
    a_moved_topic(a_rebalance(billing), moves=[], queues_moved=0, unowned_queue_seconds=seconds)
    page = said(admin_client.get(PAGE).text)
    assert re.findall(r"No queue of this topic[^.]*\.", page) == [sentence]
