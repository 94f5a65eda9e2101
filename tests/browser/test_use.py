from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Site
from tests.browser.waiting import wait_until

pytestmark = pytest.mark.usefixtures("shop")
PAGES = ("/", "/groups/", "/groups/prod-a/inventory/", "/clusters/")


def test_slash_goes_to_the_search_and_enter_finds(site: Site) -> None:
    page = site.open("/")
    page.keyboard.press("/")
    page.keyboard.type("bill")
    page.keyboard.press("Enter")
    # A single hit is opened.
    page.wait_for_url("**/groups/prod-a/billing/")


def test_the_search_names_what_it_would_find(site: Site) -> None:
    page = site.open("/")
    page.locator("#search").press_sequentially("bil")
    expect(page.locator("#found-names option")).to_have_text(["Groups · prod-a"])
    assert page.locator("#found-names option").get_attribute("value") == "billing"
    assert site.objections == []


def test_a_zoom_is_shown_on_every_chart_and_can_be_the_range_of_the_page(site: Site) -> None:
    page = site.open("/groups/prod-a/billing/")
    page.wait_for_selector("#rates-chart .main-svg")
    page.wait_for_selector("#lag-chart .main-svg")
    page.locator("#lag-chart").scroll_into_view_if_needed()
    box = page.locator("#lag-chart .nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 42, steps=8)
    page.mouse.up()
    shown = "id => document.getElementById(id)._fullLayout.xaxis.range.map(at => new Date(at).getTime())"
    wait_until(page, "() => !document.getElementById('zoomed').hidden")
    chosen = page.evaluate(shown, "lag-chart")
    wait_until(page, f"chosen => String(({shown})('rates-chart')) === String(chosen)", chosen)
    page.click("#zoomed")
    page.wait_for_url("**range=20*..20*")
    page.wait_for_selector("#rates-chart .main-svg")
    since, until = page.evaluate(shown, "rates-chart")
    assert abs((until - since) - (chosen[1] - chosen[0])) <= 60_000
    assert site.objections == []


def test_the_first_tab_leads_past_the_frame(site: Site) -> None:
    page = site.open("/groups/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_escape_closes_a_menu_and_gives_the_focus_back(site: Site) -> None:
    page = site.open("/")
    page.click("#menu-account summary")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.locator("details[open]").count() == 0
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_a_theme_is_chosen_by_hand_and_stays(site: Site) -> None:
    page = site.open("/clusters/?range=6h")
    page.click("#menu-account summary")
    page.click("button[value=dark]")
    expect(page.locator("html")).to_have_css("background-color", "rgb(21, 24, 28)")
    assert page.url.endswith("/clusters/?range=6h")


@pytest.mark.parametrize("site", [{"color_scheme": "dark"}], indirect=True)
def test_it_follows_the_system_into_the_dark(site: Site) -> None:
    page = site.open("/")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(21, 24, 28)"


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_no_page_is_wider_than_the_screen(site: Site, width: int) -> None:
    site.page.set_viewport_size({"width": width, "height": 800})
    for path in PAGES:
        page = site.open(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


@pytest.mark.parametrize("site", [{"java_script_enabled": False}], indirect=True)
def test_it_works_without_javascript(site: Site) -> None:
    page = site.open("/")
    page.click("ul.attention a >> text=inventory")
    expect(page.locator("h1")).to_have_text("inventory")
    assert page.locator("noscript").first.inner_text().startswith("Charts need JavaScript")
    page.click("text=with lag or unknown")
    expect(page.locator("#scroll-queues tbody tr")).to_have_count(2)
    page.click("#freshness summary")
    assert page.locator("#freshness table").is_visible()


def test_on_a_phone_the_header_is_low_and_what_it_opens_stays_on_the_screen(site: Site) -> None:
    site.page.set_viewport_size({"width": 390, "height": 844})
    page = site.open("/groups/")
    assert page.evaluate("document.querySelector('main').getBoundingClientRect().top") <= 96
    page.click("#freshness summary")
    left, right = page.evaluate(
        "(r => [r.left, r.right])(document.querySelector('#freshness > .sheet').getBoundingClientRect())"
    )
    assert 0 <= left < right <= 390


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_panel_of_the_demo_stands_below_the_bar(site: Site, settings: Any, width: int) -> None:
    settings.CONSUMERSCOPE_DEMO = True
    site.page.set_viewport_size({"width": width, "height": 844})
    page = site.open("/groups/")
    page.click("#menu-demo summary")
    bar, panel = (
        page.eval_on_selector(name, "e => (r => [r.top, r.bottom])(e.getBoundingClientRect())")
        for name in (".bar", "#menu-demo > .story")
    )
    assert panel[0] >= bar[1] - 1


def weight(sizes: dict[str, int]) -> int:
    """In bytes. A part that refreshes itself while a slow machine still opens the page is none of its weight."""
    return sum(size for url, size in sizes.items() if "plotly" not in url and "/parts/" not in url)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_weighs_less_than_150_kb_without_plotly(site: Site, path: str) -> None:
    sizes: dict[str, int] = {}
    site.page.on("response", lambda reply: sizes.update({reply.url: len(reply.body())}) if reply.ok else None)
    site.open(path)
    assert weight(sizes) < 150_000


@pytest.mark.parametrize("path", PAGES)
def test_every_control_has_a_name_and_every_id_is_unique(site: Site, path: str) -> None:
    page = site.open(path)
    nameless = page.evaluate(
        "[...document.querySelectorAll('a, button, input:not([type=hidden]), summary, [role=img], [role=figure]')]"
        ".filter(e => !(e.textContent.trim() || e.ariaLabel || e.labels?.length || e.getAttribute('aria-label')))"
        ".map(e => e.outerHTML.slice(0, 90))"
    )
    assert nameless == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("site", [{"timezone_id": "Asia/Shanghai"}], indirect=True)
def test_a_time_is_of_the_browser_s_clock_and_tells_utc_on_hover(site: Site) -> None:
    page = site.open("/groups/prod-a/inventory/")
    page.wait_for_selector("html[data-zone='UTC+08:00']")
    shown = page.locator("main time:visible").first
    in_utc = shown.get_attribute("title")
    assert in_utc is not None
    local = datetime.strptime(in_utc, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC) + timedelta(hours=8)
    expect(shown).to_have_text(f"{local:%H:%M:%S}")
