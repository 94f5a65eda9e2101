"""Kinds of groups in a real browser: lists of their own, reasons in words, nothing wider than the screen."""

import re

import pytest

from consumers.models import Cluster
from tests.browser.conftest import Site
from tests.browser.kinds import seed_kinds

pytestmark = pytest.mark.usefixtures("shop")
PAGES = ("/groups/", "/groups/?kind=ghost", "/groups/prod-a/nightly-report/", "/groups/prod-a/crm-import/")


@pytest.fixture(autouse=True)
def _kinds(shop: None) -> None:
    seed_kinds(Cluster.objects.get(name="prod-a"))


def test_a_chip_leads_to_the_ghosts_and_back(site: Site) -> None:
    page = site.open("/groups/")
    groups = page.locator("tbody th a")
    assert "campaign-2024" not in groups.all_inner_texts()
    page.click("text=inactive 1")
    page.wait_for_url("**/groups/?kind=ghost")
    assert groups.all_inner_texts() == ["campaign-2024"]
    page.click("text=in use")
    page.wait_for_url(re.compile(r"/groups/\?$"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_group_at_rest_has_no_colour(site: Site, scheme: str) -> None:
    site.page.emulate_media(color_scheme=scheme)
    page = site.open("/groups/prod-a/payout/")
    colour = "getComputedStyle(document.querySelector('.verdict .state')).color"
    quiet = "getComputedStyle(document.querySelector('.verdict .quiet')).color"
    assert page.evaluate(colour) == page.evaluate(quiet)


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_no_page_is_wider_than_the_screen(site: Site, width: int) -> None:
    site.page.set_viewport_size({"width": width, "height": 800})
    for path in PAGES:
        page = site.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    assert site.objections == []
