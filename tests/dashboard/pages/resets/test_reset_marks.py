"""What resets leave on the overview, on a group's page and on its charts."""

from typing import Any

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, Reset, ResetStatus
from consumers.vocabulary.states import RuleCode
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import a_broker, a_cluster, a_group, a_judged_group, a_queue, a_snapshot, a_total, ago

pytestmark = pytest.mark.django_db
TEXT = "reset by ops, applied: to offset 40 (orders were lost)"


@pytest.fixture
def billing() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    queue = a_queue(cluster, "Orders")
    a_snapshot(group, queue, 40, 100)
    a_total(group, 60)
    a_judged_group(group, "REWIND", worst_queue=queue, rule=RuleCode.OFFSET_WENT_BACK, since=ago(60))
    return group


@pytest.fixture
def reset(billing: ConsumerGroup) -> Reset:
    made = a_reset(billing, status=ResetStatus.APPLIED, started_at=ago(75), finished_at=ago(50))
    a_reset_queue(made, 0, before=60, written_at=ago(70))
    return made


def test_the_strip_of_the_overview_leads_to_it(admin_client: Client, reset: Reset) -> None:
    page = admin_client.get("/").text
    strip = page.split('<svg class="strip"')[1]
    assert f'href="/resets/{reset.pk}/"' in strip
    assert f"02:58:45 UTC · billing · {TEXT}" in strip
    assert "1 offset reset<" in page


def test_without_one_the_overview_tells_of_none(admin_client: Client, billing: ConsumerGroup) -> None:
    assert "offset reset<" not in admin_client.get("/").text


@pytest.mark.parametrize("chart", ["lag", "queues"])
def test_the_charts_of_the_group_mark_it(admin_client: Client, reset: Reset, chart: str) -> None:
    layout: dict[str, Any] = admin_client.get(f"/figures/prod/billing/{chart}/").json()["layout"]
    [sign] = [one for one in layout["annotations"] if one["text"] == "↺"]
    assert sign["hovertext"] == f"02:58:45 UTC · {TEXT}"


def test_the_verdict_on_the_group_leads_to_it(admin_client: Client, reset: Reset) -> None:
    verdict = admin_client.get("/groups/prod/billing/").text.split('class="verdict"')[1].split("</p>")[0]
    assert "reset by ops at 2026-03-14 02:58:50 UTC (orders were lost)" in verdict
    assert f'href="/resets/{reset.pk}/"' in verdict


def test_a_rewind_of_others_leads_nowhere(admin_client: Client, billing: ConsumerGroup) -> None:
    verdict = admin_client.get("/groups/prod/billing/").text.split('class="verdict"')[1].split("</p>")[0]
    assert "not by Consumerscope" in verdict
    assert "/resets/" not in verdict
