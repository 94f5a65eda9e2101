"""The Offsets tab in a browser: reached by keyboard, refreshed in place, no wider than the screen."""

import pytest
from playwright.sync_api import expect

from consumers.models import QueueSnapshot
from tests.browser.conftest import Site
from tests.browser.offset_stores import seed_stores
from tests.browser.test_refresh import refresh

GROUPS = ("inventory", "price-board", "checkout", "audit", "newcomer")


@pytest.fixture(autouse=True)
def _stores(shop: None) -> None:
    seed_stores()


def address(group: str) -> str:
    return f"/groups/prod-a/{group}/offsets/"


def test_the_tab_is_reached_and_opened_by_keyboard(site: Site) -> None:
    page = site.open("/groups/prod-a/inventory/?range=6h")
    page.focus("#tab-group_retries")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/groups/prod-a/inventory/offsets/?range=6h")
    assert page.locator(".tabs [aria-current=page]").inner_text() == "Offsets"


@pytest.mark.parametrize("group", GROUPS)
def test_it_breaks_no_policy_and_loads_no_chart_library(site: Site, group: str) -> None:
    loaded: list[str] = []
    site.page.on("request", lambda request: loaded.append(request.url))
    site.open(address(group)).wait_for_selector(".tabs")
    assert site.objections == []
    assert not [url for url in loaded if "plotly" in url]


def test_numbers_and_drawings_change_in_place_and_the_focus_stays(site: Site) -> None:
    page = site.open(address("inventory"))
    page.focus("#tab-group")
    QueueSnapshot.objects.filter(group__name="inventory", queue__queue_id=2).update(consumer_offset=1_249_900)
    refresh(page)
    page.wait_for_selector("td.num >> text=1,249,900")
    assert page.locator('[aria-label*="broker 1,249,900"]').count() == 1
    assert page.evaluate("document.activeElement.id") == "tab-group"


@pytest.mark.parametrize("width", [1440, 1024, 390])
@pytest.mark.parametrize("group", GROUPS)
def test_it_is_no_wider_than_the_screen(site: Site, width: int, group: str) -> None:
    site.page.set_viewport_size({"width": width, "height": 800})
    page = site.open(address(group))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("site", [{"java_script_enabled": False}], indirect=True)
def test_it_works_without_javascript(site: Site) -> None:
    page = site.open("/groups/prod-a/inventory/")
    page.click("#tab-group_offsets")
    expect(page.locator("#scroll-offsets tbody th")).to_have_count(5)
    page.click("nav.choices >> text=%RETRY%inventory")
    expect(page.locator("#scroll-offsets tbody th")).to_have_count(1)
