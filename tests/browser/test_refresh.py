import time

import pytest
from playwright.sync_api import Page, Route, expect

from consumers.models import GroupState, GroupTotal
from tests.browser.conftest import Site

pytestmark = pytest.mark.usefixtures("shop")


def refresh(page: Page) -> None:
    """Asks once and waits until the answer stands in the page."""
    page.evaluate("""new Promise(done => {
        document.body.addEventListener("htmx:afterSettle", () => setTimeout(done, 30), {once: true});
        htmx.trigger("#live", "refresh");
    })""")


def test_numbers_change_in_place(site: Site) -> None:
    page = site.open("/groups/?search=billing")
    GroupTotal.objects.filter(group__name="billing").update(lag_messages=77_777)
    refresh(page)
    page.wait_for_selector("text=77,777")
    assert site.objections == []


def test_it_refreshes_by_itself(site: Site) -> None:
    page = site.open("/")
    page.wait_for_event("response", lambda reply: "/parts/overview/" in reply.url)


def test_it_asks_nothing_while_the_tab_is_hidden(site: Site) -> None:
    page = site.open("/")
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true})")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(6000)
    assert asked == []


def test_scroll_and_focus_survive(site: Site) -> None:
    site.page.set_viewport_size({"width": 700, "height": 300})
    page = site.open("/groups/")
    page.focus("#sort-lag_messages")
    page.evaluate("scrollTo(0, 240); document.getElementById('scroll-groups').scrollLeft = 120")
    refresh(page)
    assert page.evaluate("document.activeElement.id") == "sort-lag_messages"
    assert page.evaluate("[scrollY, document.getElementById('scroll-groups').scrollLeft]") == [240, 120]


@pytest.mark.parametrize("held", ["#freshness summary", "#live thead th a", "#live tbody tr:nth-child(3) a"])
def test_what_has_no_id_keeps_the_focus(site: Site, held: str) -> None:
    """The third group's link leads to the same group, wherever it stands afterwards."""
    page = site.open("/groups/")
    page.evaluate("held => document.querySelector(held).removeAttribute('id')", held)
    page.evaluate("held => { const e = document.querySelector(held); e.focus(); window.said = e.textContent }", held)
    refresh(page)
    assert page.evaluate("document.activeElement.textContent === said")


def test_an_open_menu_stays_open(site: Site) -> None:
    page = site.open("/")
    page.click("#freshness summary")
    refresh(page)
    assert page.locator("#freshness[open]").count() == 1


def test_nothing_moves_on_a_refresh(site: Site) -> None:
    page = site.open("/")
    before = page.evaluate("[...document.querySelectorAll('h2')].map(e => e.getBoundingClientRect().top)")
    refresh(page)
    assert page.evaluate("[...document.querySelectorAll('h2')].map(e => e.getBoundingClientRect().top)") == before


def test_a_state_that_changed_is_read_out_once(site: Site) -> None:
    page = site.open("/groups/prod-a/billing/")
    changed = page.locator("#changed[role=status]")
    refresh(page)
    expect(changed).to_have_text("")
    GroupState.objects.filter(group__name="billing").update(state="STOP")
    refresh(page)
    expect(changed).to_have_text("STOP")
    page.evaluate("document.getElementById('changed').textContent = ''")
    refresh(page)
    expect(changed).to_have_text("")


def test_it_says_when_the_server_cannot_be_reached_and_when_it_can_again(site: Site) -> None:
    page = site.open("/")
    site.context.route("**/parts/**", lambda route: route.abort())
    page.evaluate("htmx.trigger('#live', 'refresh')")
    page.wait_for_selector("#lost.shown")
    assert page.inner_text("#lost").startswith("server not reachable · last refreshed ")
    assert page.locator("ul.attention li").count() > 0
    site.context.unroute("**/parts/**")
    refresh(page)
    page.wait_for_selector("#lost:not(.shown)", state="attached")


def test_it_says_when_the_server_fails(site: Site) -> None:
    page = site.open("/")
    site.context.route("**/parts/**", lambda route: route.fulfill(status=503, body="no"))
    page.evaluate("htmx.trigger('#live', 'refresh')")
    page.wait_for_selector("#lost.shown")
    assert "status 503" in page.inner_text("#lost")
    assert page.locator("ul.attention li").count() > 0


def test_a_reply_that_was_overtaken_is_dropped(site: Site) -> None:
    page = site.open("/groups/?search=billing")
    held: list[Route] = []
    site.context.route("**/parts/**", lambda route: held.append(route))
    page.evaluate("htmx.trigger('#live', 'refresh')")
    page.evaluate("htmx.trigger('#live', 'refresh')")
    deadline = time.monotonic() + 120
    while len(held) < 2:
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)
    held[1].fulfill(body="<p id='later'>later</p>")
    page.wait_for_selector("#later")
    held[0].abort()
    page.wait_for_timeout(100)
    assert page.inner_text("#live") == "later"
    assert page.locator("#lost.shown").count() == 0


def test_a_session_that_is_over_leads_to_the_login_page(site: Site) -> None:
    page = site.open("/groups/?state=WARN")
    site.context.clear_cookies()
    page.evaluate("htmx.trigger('#live', 'refresh')")
    page.wait_for_url("**/login/?next=/groups/%3Fstate%3DWARN")


def test_ticked_groups_stay_ticked_and_open_together(site: Site) -> None:
    page = site.open("/groups/")
    for name in ("billing", "audit"):
        page.get_by_label(f"Select {name}").check()
    refresh(page)
    assert page.get_by_label("Select billing").is_checked()
    page.get_by_role("button", name="Open selected").click()
    expect(page.locator("h1")).to_have_text("Selected groups")
    assert sorted(page.locator("th.name a").all_inner_texts()) == ["audit", "billing"]
