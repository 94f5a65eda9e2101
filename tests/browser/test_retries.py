"""The Retries & DLQ pages in a browser: reached by keyboard, drawn, refreshed in place, on narrow screens and dark."""

import pytest

from consumers.models import Cluster, ConsumerGroup
from tests.browser.conftest import Site
from tests.browser.fleets import a_fleet, read_for_an_hour
from tests.browser.test_refresh import refresh
from tests.browser.waiting import wait_until
from tests.retry_rows import a_queue_is_blocked, letters_lie, levels_wait, retries_work, volumes_flow

ADDRESS = "/groups/prod-a/fulfilment/retries/"
CHARTS = ("volumes-chart", "ladder-chart", "dead-chart")


@pytest.fixture(autouse=True)
def fleet(shop: None) -> ConsumerGroup:
    cluster = Cluster.objects.get(name="prod-a")
    read_for_an_hour(cluster)
    group = a_fleet(cluster, "fulfilment", "Shipments", ("broker-a", "broker-b"), 8, 3)
    retries_work(group)
    levels_wait(group)
    volumes_flow(group, unknown=range(20, 26))
    letters_lie(group)
    a_queue_is_blocked(group)
    return group


@pytest.mark.parametrize("site", [{"color_scheme": "dark"}], indirect=True)
def test_it_is_reached_by_keyboard_drawn_on_any_screen_and_keeps_its_charts(site: Site) -> None:
    page = site.open("/retries/?cluster=prod-a&search=fulfil")
    page.focus("#retrying tbody a")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{ADDRESS}?cluster=prod-a")
    for chart in CHARTS:
        page.wait_for_selector(f"#{chart} .main-svg")
    wait_until(page, "document.querySelectorAll('#volumes-chart pattern').length >= 1")
    wait_until(page, "document.querySelectorAll('#ladder-chart .bars path').length >= 36")
    page.evaluate(f"document.getElementById('{CHARTS[0]}').dataset.mark = 'kept'")
    height = page.evaluate("document.documentElement.scrollHeight")
    refresh(page)
    assert page.evaluate(f"document.getElementById('{CHARTS[0]}').dataset.mark") == "kept"
    assert page.evaluate("document.documentElement.scrollHeight") == height
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page = site.open(ADDRESS)
        page.wait_for_selector("#dead-chart .main-svg")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert site.objections == []
