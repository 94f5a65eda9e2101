"""The Ownership tab in a browser: reached by keyboard, drawn in its colours, refreshed in place, narrow and dark."""

import pytest
from playwright.sync_api import Page

from consumers.models import Assignment, Cluster, ConsumerGroup
from tests.browser.conftest import Site
from tests.browser.fleets import a_fleet, client_id, read_for_an_hour, trouble
from tests.browser.test_refresh import refresh
from tests.browser.test_use import weight
from tests.browser.waiting import wait_until
from tests.world import ago

ADDRESS = "/groups/prod-a/fulfilment/ownership/"
CHART = "owners-chart"


@pytest.fixture(autouse=True)
def fleet(shop: None) -> ConsumerGroup:
    cluster = Cluster.objects.get(name="prod-a")
    read_for_an_hour(cluster)
    group = a_fleet(cluster, "fulfilment", "Shipments", ("broker-a", "broker-b"), 8, 3)
    trouble(group)
    return group


def hover(page: Page, moment: str, row: int, *words: str) -> None:
    """Until the picture says all words of a queue's row at that moment."""
    point = page.evaluate(
        """([chart, moment, row]) => {
            const element = document.getElementById(chart), {xaxis, yaxis} = element._fullLayout;
            const box = element.getBoundingClientRect();
            return [box.left + xaxis._offset + xaxis.d2p(moment), box.top + yaxis._offset + yaxis.d2p(row)];
        }""",
        [CHART, moment, row],
    )
    page.mouse.move(*point)
    wait_until(
        page,
        "([chart, words]) => words.every(word =>"
        " document.querySelector(`#${chart} .hoverlayer`).textContent.includes(word))",
        [CHART, list(words)],
    )


def test_it_is_reached_by_keyboard_drawn_and_told_on_hover_and_changes_in_place(
    site: Site, fleet: ConsumerGroup
) -> None:
    page = site.open("/groups/prod-a/fulfilment/")
    page.focus("#tab-group")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{ADDRESS}")
    # Both: one that is drawn later moves what is below it away from the mouse.
    page.wait_for_selector("#lag-chart .main-svg")
    page.wait_for_selector(f"#{CHART} .main-svg")
    page.locator(f"#{CHART}").scroll_into_view_if_needed()
    hover(page, "2026-03-14 02:10:00", 1, "Shipments / broker-a / 1", client_id(0))
    hover(page, "2026-03-14 02:59:00", 7, "Shipments / broker-b / 3", "no owner")
    hover(page, "2026-03-14 02:57:00", 0, "Shipments / broker-a / 0", "several owners")
    sizes = "id => { const {l, r} = document.getElementById(id)._fullLayout.margin; return [l, r]; }"
    assert page.evaluate(sizes, CHART) == page.evaluate(sizes, "lag-chart")
    axis = "id => document.getElementById(id)._fullLayout.xaxis.range"
    assert page.evaluate(axis, CHART) == page.evaluate(axis, "lag-chart")
    page.focus("#tab-group_ownership")
    lost = Assignment.objects.filter(group=fleet).order_by("-gone_by").first()
    assert lost is not None
    Assignment.objects.create(
        group=fleet, queue=lost.queue, client_id=client_id(2), seen_since=ago(10), last_seen=ago(5)
    )
    refresh(page)
    page.wait_for_selector("#rows >> text=7 as expected")
    assert page.evaluate("document.activeElement.id") == "tab-group_ownership"
    assert site.objections == []


@pytest.mark.parametrize("site", [{"color_scheme": "dark"}], indirect=True)
@pytest.mark.parametrize("width", [390])
def test_it_is_no_wider_than_the_screen_and_names_every_control(site: Site, width: int) -> None:
    site.page.set_viewport_size({"width": width, "height": 800})
    sizes: dict[str, int] = {}
    site.page.on("response", lambda reply: sizes.update({reply.url: len(reply.body())}) if reply.ok else None)
    page = site.open(ADDRESS)
    page.wait_for_selector(f"#{CHART} .main-svg")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert weight(sizes) < 150_000
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
