"""Rebalances in a real browser: from the list to one and back, nothing wider than the screen, nothing objected to."""

import pytest
from playwright.sync_api import expect

from consumers.models import Cluster
from tests.browser.conftest import Site
from tests.browser.rebalances import seed_rebalances

pytestmark = pytest.mark.usefixtures("shop")


def test_the_list_leads_to_one_with_its_picture_and_chart_on_any_screen(site: Site) -> None:
    seed_rebalances(Cluster.objects.get(name="prod-a"))
    for width in (1440, 1024, 390):
        site.page.set_viewport_size({"width": width, "height": 900})
        page = site.open("/rebalances/?range=6h")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.click("table.rebalances tr:has-text('59 → 60') a")
        page.wait_for_selector("#lag-chart .main-svg")
        expect(page.locator("#lag-chart .annotation-text >> text=⇄")).to_have_count(1)
        assert page.locator(".before-after path.moved").count() > 10
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert site.objections == []
