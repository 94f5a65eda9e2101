"""No page of a group says in green that all is well while something is found of the same group."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from consumers.alerts.health import note
from consumers.models import (
    Assignment,
    Client as Member,
    ConsumerGroup,
    GroupBroker,
    GroupState,
    GroupWindow,
    PipelineRun,
)
from tests.health_rows import a_healthy_group, a_read_cluster
from tests.plugins.made_once import MadeOnce
from tests.rebalance_rows import a_crash_loop, was_watched
from tests.retry_rows import a_queue_is_blocked, levels_wait
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db
TABS = ("", "ownership/", "retries/", "dlq/", "offsets/")
GREEN = re.compile(r'<span[^>]*class="(?:[^"]* )?sound(?: [^"]*)?"[^>]*>([^<]*)<')
OK_STATE = re.compile(r'(<span class="at-rest">)?<span class="state state-ok">')


@pytest.fixture(scope="module")
def healthy_group(made_once: MadeOnce) -> ConsumerGroup:
    return made_once(lambda: a_healthy_group(a_read_cluster()))


@pytest.fixture
def group(healthy_group: ConsumerGroup, db: None) -> ConsumerGroup:
    """As no other test has seen it."""
    return ConsumerGroup.objects.get(pk=healthy_group.pk)


def dead_letters(group: ConsumerGroup) -> None:
    GroupWindow.objects.filter(group=group).update(into_dlq=5)


def a_queue_without_an_owner(group: ConsumerGroup) -> None:
    Assignment.objects.filter(group=group).order_by("pk")[0].delete()


def two_owners(group: ConsumerGroup) -> None:
    first, *_others, last = Assignment.objects.filter(group=group).order_by("pk")
    times = {"seen_since": ago(600), "last_seen": ago(5)}
    Assignment.objects.create(group=group, queue=first.queue, client_id=last.client_id, **times)


def another_owner(group: ConsumerGroup) -> None:
    first, *_others, last = Assignment.objects.filter(group=group).order_by("pk")
    Assignment.objects.filter(pk=first.pk).update(client_id=last.client_id)


def strategies(group: ConsumerGroup) -> None:
    last = Member.objects.filter(group=group).order_by("-pk")[0]
    Member.objects.filter(pk=last.pk).update(strategy="AllocateMessageQueueAveragelyByCircle")


def discarded(group: ConsumerGroup) -> None:
    GroupBroker.objects.filter(group=group, broker="broker-b").update(retry_queue_nums=0)


def unsaid(group: ConsumerGroup) -> None:
    GroupBroker.objects.filter(group=group).delete()


def unread_members(group: ConsumerGroup) -> None:
    ConsumerGroup.objects.filter(pk=group.pk).update(membership_at=ago(1000))


def late_pipeline(group: ConsumerGroup) -> None:
    PipelineRun.objects.update(until=ago(3600))


def stalled(group: ConsumerGroup) -> None:
    GroupState.objects.filter(group=group).update(state="STALL", rule="blocked")


TROUBLES: dict[str, Callable[[ConsumerGroup], Any]] = {
    "dead letters": dead_letters,
    "blocked": lambda group: a_queue_is_blocked(group, orderly=False),
    "flapping": lambda group: a_crash_loop(group, 1200, until=30),
    "unowned": a_queue_without_an_owner,
    "two owners": two_owners,
    "another owner": another_owner,
    "strategies": strategies,
    "discarded": discarded,
    "late retries": lambda group: levels_wait(group, late_seconds=600),
    "retry checks unknown": unsaid,
    "members unread": unread_members,
    "pipeline late": late_pipeline,
    "stalled": stalled,
}


def page(client: Client, tab: str) -> str:
    return client.get(f"/groups/prod/billing/{tab}").text


def health_line(html: str) -> str:
    found = re.search(r'<p class="health".*?</p>', html, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", found[0])).split())


def head_states(html: str) -> list[str]:
    """Of the verdict and the health line: what wraps each green state."""
    head = html[html.index('<p class="verdict"') : html.index('<dl class="facts"')]
    return [match[1] or "" for match in OK_STATE.finditer(head)]


@pytest.mark.parametrize("tab", TABS)
def test_a_group_that_is_well_says_in_green_what_was_looked_at(
    admin_client: Client, group: ConsumerGroup, tab: str
) -> None:
    html = page(admin_client, tab)
    assert health_line(html) == ("Health ok no findings: state, ownership, retry health checks, DLQ inflow, rebalances")
    assert head_states(html) == ["", ""]
    said = {"ownership/": ["Assignment as expected"], "retries/": ["Retry health checks: 15 of 15 passed"]}
    assert GREEN.findall(html) == said.get(tab, [])


def test_the_head_names_the_state_once(admin_client: Client, group: ConsumerGroup) -> None:
    html = page(admin_client, "")
    head = re.search(r'<p class="verdict">.*?</p>', re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL), re.DOTALL)
    assert head
    assert re.sub(r"<[^>]+>", " ", head[0]).split()[:3] == ["OK", "lagging", "since"]


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_nothing_is_green_on_any_page_of_a_group_with_a_finding(
    admin_client: Client, group: ConsumerGroup, trouble: str, tab: str
) -> None:
    TROUBLES[trouble](group)
    html = page(admin_client, tab)
    assert GREEN.findall(html) == []
    assert "no findings" not in html
    assert not health_line(html).startswith("Health ok")
    assert "" not in head_states(html)


@pytest.mark.parametrize("tab", TABS)
def test_what_was_set_on_purpose_is_no_fault_and_not_green_either(
    admin_client: Client, group: ConsumerGroup, tab: str
) -> None:
    GroupBroker.objects.update(consume_enable=False)
    html = page(admin_client, tab)
    assert health_line(html) == "Health ok Consumption disabled by configuration (broker-a, broker-b)"
    assert head_states(html) == ['<span class="at-rest">'] * 2
    assert "Retry health checks: " not in "".join(GREEN.findall(html))


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_part_that_refreshes_a_page_says_the_same(admin_client: Client, group: ConsumerGroup, trouble: str) -> None:
    TROUBLES[trouble](group)
    for tab in ("ownership/", "retries/"):
        part = admin_client.get(f"/parts/groups/prod/billing/{tab}", headers={"HX-Request": "true"}).text
        assert health_line(part) == health_line(page(admin_client, tab))
        assert GREEN.findall(part) == []


def test_five_dead_letters_a_minute_stand_beside_a_state_that_is_ok(admin_client: Client, group: ConsumerGroup) -> None:
    dead_letters(group)
    html = page(admin_client, "")
    assert health_line(html) == "Health warning DLQ inflow 5/min · ≥ 295 in 24 h"
    assert '<a id="health-0" href="/groups/prod/billing/dlq/">' in html


def test_a_blocked_queue_stands_above_the_checks_that_passed(admin_client: Client, group: ConsumerGroup) -> None:
    a_queue_is_blocked(group, orderly=False)
    html = page(admin_client, "retries/")
    assert html.index('<section id="blocked">') < html.index('<section id="conditions">')
    assert "15 of 15 passed" in html


def test_owners_that_differ_are_never_called_as_expected(admin_client: Client, group: ConsumerGroup) -> None:
    another_owner(group)
    assert "Assignment as expected" not in page(admin_client, "ownership/")


def test_rebalances_are_counted_beside_their_episodes_wherever_they_are_counted(
    admin_client: Client, group: ConsumerGroup
) -> None:
    was_watched(group.cluster, 86400)
    a_crash_loop(group, 1200, until=30)
    counted = "29 rebalances in 1 episode"
    assert health_line(page(admin_client, "ownership/")).endswith(f"Unstable: {counted}, 1 h")
    assert f"{counted}, 1 h · {counted}, 24 h" in page(admin_client, "ownership/")
    assert f"{counted}, 1 h · {counted}, 24 h" in admin_client.get("/rebalances/").text
    assert counted in admin_client.get("/").text


def test_lists_begin_with_the_worst_health_and_say_why(admin_client: Client, group: ConsumerGroup) -> None:
    a_healthy_group(group.cluster, "audit")
    dead_letters(group)
    note(NOW, lambda: NOW, 5)
    html = admin_client.get("/groups/").text
    assert html.index(f'id="group-{group.pk}"') < html.index(">audit<")
    row = html[: html.index(f'id="group-{group.pk}"')].rpartition("<tr>")[2]
    assert "state-warn" in row
    assert '<span class="at-rest"><span class="state state-ok">' in row
    assert '<span class="line reason">DLQ inflow 5/min · ≥ 295 in 24 h</span>' in html
    overview = admin_client.get("/").text
    attention = overview[overview.index("Needs attention") :].partition("</section>")[0]
    assert "billing" in attention
    assert "audit" not in attention
    assert "DLQ inflow 5/min" in attention
    assert "state-ok" not in attention
