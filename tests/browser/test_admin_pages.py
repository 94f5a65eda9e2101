"""Django's admin pages in the looks of the site: their rules of accessibility, their theme, and what they cut off."""

import re
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.contrib.auth.models import Group, User
from playwright.sync_api import expect

from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup, GroupState, Reset
from tests.browser.conftest import Site
from tests.browser.test_accessibility import NARROW, WIDE, violations
from tests.walk.world import a_known_world

OF_CONSUMERS = (
    *("cluster", "groupthresholds", "apitoken", "auditevent", "consumergroup", "reset", "resend", "incident"),
    *("queuesnapshot", "storedfinding", "rebalance"),
)
LISTS = ["auth/user", "auth/group", *(f"consumers/{model}" for model in OF_CONSUMERS)]


@pytest.fixture
def known_world(transactional_db: None, settings: Any, tmp_path: Any) -> None:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    a_known_world(Lake.at(str(tmp_path)))


def changed_pages() -> list[str]:
    """One row of each kind that has a form of its own, and one whose columns are shown in words."""
    rows = [Cluster.objects.get(), ConsumerGroup.objects.get(), Reset.objects.get(), GroupState.objects.get()]
    people = [User.objects.get(username="ada"), Group.objects.get_or_create(name="operator")[0]]
    paths = [f"{row._meta.app_label}/{row._meta.model_name}/{row.pk}" for row in (*rows, *people)]
    return [f"/admin/{path}/change/" for path in paths] + [f"/admin/{paths[-1]}/delete/"]


@pytest.mark.parametrize("site", [{"bypass_csp": True}], indirect=True)
def test_no_admin_page_breaks_a_rule_of_accessibility(known_world: None, site: Site) -> None:
    forms = ["/admin/consumers/cluster/add/", "/admin/auth/user/add/", "/admin/password_change/"]
    paths = ["/admin/", *(f"/admin/{path}/" for path in LISTS), *forms, *changed_pages()]
    found = []
    for scheme, window in (("light", WIDE), ("dark", NARROW)):
        site.page.emulate_media(color_scheme=scheme)
        site.page.set_viewport_size(window)
        for path in paths:
            site.page.goto(site.url + path)
            site.page.evaluate(AXE_SCRIPT)
            found += [f"{path} {scheme}: {fault}" for fault in violations(site.page)]
    assert found == []


@pytest.mark.usefixtures("shop")
def test_the_admin_pages_have_the_theme_that_was_chosen_on_the_site(site: Site) -> None:
    page = site.open("/")
    page.click("#menu-account summary")
    page.click("button[value=dark]")
    page.wait_for_load_state("networkidle")
    page.goto(site.url + "/admin/")
    expect(page.locator("body")).to_have_css("background-color", "rgb(21, 24, 28)")
    page.get_by_role("button", name="light", exact=True).click()
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    assert page.url == site.url + "/admin/"
    assert site.objections == []


@pytest.mark.usefixtures("shop")
def test_the_names_of_both_lists_of_permissions_are_seen(site: Site) -> None:
    page = site.open(f"/admin/auth/user/{User.objects.get(username='ada').pk}/change/")
    for title in ("Available groups", "Chosen groups"):
        label = page.get_by_text(re.compile(title, re.IGNORECASE)).first
        ink, paper = label.evaluate(
            "e => [getComputedStyle(e).color, getComputedStyle(e.closest('.selector > div > div')).backgroundColor]"
        )
        assert ink != paper


@pytest.mark.usefixtures("shop")
def test_a_list_of_admin_that_is_wider_than_its_place_is_shaded_at_the_side(site: Site) -> None:
    site.page.set_viewport_size({"width": 390, "height": 844})
    page = site.open("/admin/consumers/consumergroup/")
    assert page.eval_on_selector(".results", "e => e.scrollWidth > e.clientWidth")
    assert "gradient" in page.eval_on_selector(".results", "e => getComputedStyle(e).backgroundImage")
    assert page.eval_on_selector("#result_list tbody tr:nth-child(2)", "e => getComputedStyle(e).backgroundColor") == (
        "rgba(0, 0, 0, 0)"
    )
