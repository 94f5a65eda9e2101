"""Times by the clock of the browser: on pages and the axes of their charts; addresses stay in UTC."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Site
from tests.browser.waiting import wait_until

GROUP = "/groups/prod-a/inventory/"
SHANGHAI = [{"timezone_id": "Asia/Shanghai"}]

pytestmark = [pytest.mark.usefixtures("shop"), pytest.mark.parametrize("site", SHANGHAI, indirect=True)]


def test_the_first_page_is_already_of_the_browser_s_clock(site: Site) -> None:
    page = site.open(GROUP)
    page.wait_for_selector("html[data-zone='UTC+08:00']")
    page.wait_for_selector("#lag-chart .main-svg")
    axis = page.evaluate("document.getElementById('lag-chart').layout.xaxis.range")
    assert axis[1].startswith("2026-03-14 11:00")
    assert site.objections == []


def test_a_stretch_that_is_chosen_on_a_chart_is_a_range_in_utc(site: Site) -> None:
    page = site.open(GROUP)
    page.wait_for_selector("html[data-zone='UTC+08:00'] #lag-chart .main-svg")
    chosen = "{'xaxis.range': ['2026-03-14 10:20:00', '2026-03-14 10:40:00']}"
    page.evaluate(f"Plotly.relayout('lag-chart', {chosen})")
    wait_until(page, "!document.getElementById('zoomed').hidden")
    page.click("#zoomed")
    page.wait_for_url("**range=2026-03-14T02%3A20%3A00Z..2026-03-14T02%3A40%3A00Z**")
    expect(page.locator(".bar .choices [aria-current]").first).to_have_text("2026-03-14 10:20 – 10:40 UTC+08:00")


def test_who_chooses_utc_in_the_account_menu_has_it(site: Site) -> None:
    page = site.open(GROUP)
    page.wait_for_selector("html[data-zone='UTC+08:00']")
    page.click("#menu-account summary")
    page.click("button[name=times][value=utc]")
    page.wait_for_selector("html[data-zone='UTC']")
