"""Lists of resets, and the ways that lead to them and to the form."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from consumers.models import ConsumerGroup, ResetOutcome, ResetStatus, ResetStep
from tests.reset_rows import a_reset, a_reset_queue, logged_in, text
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

GROUP = "/groups/prod/billing/"


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster, "Order", 1), 60, 100)
    return group


def test_resets_of_all_groups_are_listed_the_newest_first(billing: ConsumerGroup) -> None:
    first = a_reset(billing, reason="the outage", created_at=ago(900), status=ResetStatus.APPLIED)
    a_reset_queue(first, step=ResetStep.READ_BACK, outcome=ResetOutcome.CONFIRMED)
    a_reset(a_group(a_cluster("stage"), "audit"), reason="a test", created_at=ago(60), status=ResetStatus.REFUSED,
            error="No queue of it can be moved.")  # fmt: skip
    page = logged_in("viewer").get("/resets/")
    words = text(page)
    assert words.index("a test") < words.index("the outage")
    assert "audit stage" in words
    assert "No queue of it can be moved." in words
    assert "CONFIRMED 1" in words
    assert f'href="/resets/{first.pk}/"' in page.text
    assert 'href="/groups/stage/audit/"' in page.text


def test_a_group_that_is_not_listed_any_more_is_no_link(billing: ConsumerGroup) -> None:
    a_reset(billing)
    viewer = logged_in("viewer")
    assert 'href="/groups/prod/billing/"' in viewer.get("/resets/").text
    billing.delete()
    assert 'href="/groups/prod/billing/"' not in viewer.get("/resets/").text


def test_they_are_chosen_by_cluster_status_and_group(billing: ConsumerGroup) -> None:
    viewer = logged_in("viewer")
    a_reset(billing, reason="one", status=ResetStatus.APPLIED)
    a_reset(billing, reason="two", status=ResetStatus.PLANNED, expires_at=ago(1))
    a_reset(a_group(a_cluster("stage"), "audit"), reason="three", status=ResetStatus.APPLIED)

    def listed(path: str) -> set[str]:
        return {reason for reason in ("one", "two", "three") if f'<td class="name">{reason}<' in viewer.get(path).text}

    assert listed("/resets/?cluster=stage") == {"three"}
    assert listed("/resets/?status=applied") == {"one", "three"}
    assert listed("/resets/?status=expired") == {"two"}
    assert listed(f"{GROUP}resets/") == {"one", "two"}
    assert viewer.get("/resets/?status=good").status_code == 400


def test_where_there_is_none_it_says_how_one_comes_about(billing: ConsumerGroup) -> None:
    viewer = logged_in("viewer")
    assert "Plan a reset on the Offsets tab of a group" in text(viewer.get("/resets/"))
    assert "No reset has this status." in text(viewer.get("/resets/?status=failed"))


def test_long_lists_are_paged(billing: ConsumerGroup) -> None:
    for number in range(51):
        a_reset(billing, created_at=ago(number))
    page = logged_in("viewer").get(f"{GROUP}resets/?page=2")
    assert "51–51 of 51" in text(page)


@pytest.mark.parametrize("path", [GROUP, f"{GROUP}ownership/", f"{GROUP}retries/", f"{GROUP}offsets/"])
def test_each_tab_leads_to_the_form_for_who_may_use_it(billing: ConsumerGroup, path: str) -> None:
    link = '<a class="button" id="plan-a-reset" href="/groups/prod/billing/resets/plan/">'
    assert link in logged_in("operator").get(path).text
    assert link not in logged_in("viewer").get(path).text


def test_the_offsets_tab_leads_to_past_resets_and_to_its_offsets_as_a_file(billing: ConsumerGroup) -> None:
    viewer = logged_in("viewer")
    page = viewer.get(f"{GROUP}offsets/").text
    assert f'href="{GROUP}resets/"' in page
    assert f'href="{GROUP}offsets/export/" download' in page
    file = b"".join(viewer.get(f"{GROUP}offsets/export/").streaming_content)  # type: ignore[attr-defined]
    assert b"Order,broker-a,1,60," in file


def test_a_past_moment_leads_to_a_plan_back_to_it(billing: ConsumerGroup) -> None:
    page = logged_in("operator").get(f"{GROUP}ownership/?at=2026-03-14T02:14:24Z").text
    assert "kind=moment&amp;value=2026-03-14T02%3A14%3A24%2B00%3A00" in page


def test_the_pages_of_resets_lie_under_their_tab_and_in_the_rail(billing: ConsumerGroup) -> None:
    operator = logged_in("operator")
    for path in (f"{GROUP}resets/", f"{GROUP}resets/plan/", f"/resets/{a_reset(billing).pk}/"):
        assert (
            'id="tab-group_offsets" href="/groups/prod/billing/offsets/" aria-current="page"' in operator.get(path).text
        )
    assert '<a href="/resets/" aria-current="page">Resets</a>' in operator.get("/resets/").text


def test_the_admin_leads_to_the_page(billing: ConsumerGroup) -> None:
    reset = a_reset(billing, created_at=NOW)
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    assert f'href="/resets/{reset.pk}/"' in client.get("/admin/consumers/reset/").text
