"""Tables whose values are as wide as those of a large site: nothing is moved sideways on a laptop."""

import pytest

from consumers.models import Assignment, Client, Cluster, ConsumerGroup, GroupState, GroupTotal
from tests.alert_rows import a_rule
from tests.browser.conftest import Site
from tests.world import ago

BEYOND = """[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)
    .map(e => `${e.id}: ${e.scrollWidth - e.clientWidth} px`)"""


def _judged(name: str, **values: object) -> None:
    GroupState.objects.filter(group__name=name).update(**values)


def _summed(name: str, **values: object) -> None:
    GroupTotal.objects.filter(group__name=name).update(**values)


@pytest.fixture
def wide_values(shop: None) -> None:
    """Each column of groups has its widest value somewhere."""
    Cluster.objects.filter(name="prod-a").update(name="production_eu_west_1")
    ConsumerGroup.objects.filter(name="inventory").update(members=1_234, online=False)
    _judged("billing", time_lag_seconds=2_590_000, produce_rate=123_456, consume_rate=123_450, retry_share=0.999)
    _judged("ledger", last_rebalance_at=ago(599), state="RECREATED", judged_at=ago(86_000))
    _judged("audit", time_lag_seconds=35_940, consume_rate=123_456, produce_rate=3, last_rebalance_at=ago(86_399))
    _judged("search-index", drain_seconds=2_590_000, dlq_day_messages=123_456)
    _summed("billing", dlq_messages=1_234_567)
    _summed("audit", lag_messages=1_234_567_890)
    _summed(
        "pricing", lag_messages=None, lag_messages_at_least=123_456_789, unknown_queues=1, unknown_reason="timed out"
    )


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_list_of_groups_fits_a_laptop_whatever_its_values(wide_values: None, site: Site, language: str) -> None:
    site.context.add_cookies([{"name": "language", "value": language, "url": site.url}])
    site.page.set_viewport_size({"width": 1440, "height": 900})
    assert site.open("/groups/").evaluate(BEYOND) == []


@pytest.mark.parametrize("tab", ["", "ownership/"])
def test_the_long_ids_of_owners_take_one_line_of_a_row_and_are_whole_on_hover(shop: None, site: Site, tab: str) -> None:
    long = "172.17.0.12@23#1234567890123"
    for rows in (Assignment.objects, Client.objects):
        rows.filter(group__name="billing", client_id="10.0.0.7@3312").update(client_id=long)
    site.page.set_viewport_size({"width": 1440, "height": 900})
    page = site.open(f"/groups/prod-a/billing/{tab}")
    owner = page.locator(f"td a[title='{long}']").first
    assert owner.evaluate("e => e.getClientRects().length") == 1
    assert page.evaluate(BEYOND) == []


@pytest.mark.parametrize("path", ["/", "/groups/prod-a/billing/", "/clusters/"])
def test_headings_in_chinese_have_12_pixels(shop: None, site: Site, path: str) -> None:
    site.context.add_cookies([{"name": "language", "value": "zh-hans", "url": site.url}])
    sizes = "[...document.querySelectorAll('h1, h2, h3')].map(e => parseFloat(getComputedStyle(e).fontSize))"
    assert min(site.open(path).evaluate(sizes)) >= 12


def test_a_phone_shows_state_lag_and_time_lag_of_groups_without_moving_sideways(shop: None, site: Site) -> None:
    site.page.set_viewport_size({"width": 390, "height": 844})
    page = site.open("/groups/")
    row = page.locator("tbody tr", has=page.locator("th a", has_text="inventory"))
    assert "critical" in row.locator("td:has(.state)").locator("visible=true").first.inner_text()
    for name in ("state", "lag_messages", "time_lag_seconds"):
        assert page.locator(f"#sort-{name}").evaluate("e => e.closest('th').getBoundingClientRect().right") < 375


def test_a_phone_shows_whole_words_and_the_condition_of_rules(shop: None, site: Site) -> None:
    site.page.set_viewport_size({"width": 390, "height": 844})
    a_rule("Expires unconsumed within 2 days")
    page = site.open("/alerts/rules/")
    assert page.locator("td.sentence").first.evaluate("e => e.getBoundingClientRect().right") < 375
    # No word is wider than the cell that it stands in.
    lines = "e => { e.textContent = 'unconsumed'; return e.getClientRects().length }"
    assert page.locator("th.name a", has_text="Expires unconsumed").evaluate(lines) == 1


def test_a_phone_shows_which_page_of_the_rail_is_open(shop: None, site: Site) -> None:
    site.page.set_viewport_size({"width": 390, "height": 844})
    rail = site.open("/alerts/rules/").locator(".rail [aria-current]")
    assert rail.evaluate("e => e.getBoundingClientRect().right") < 375
