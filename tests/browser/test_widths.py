"""Tables whose values are as wide as those of a large site: nothing is moved sideways on a laptop."""

import pytest

from consumers.models import Assignment, Client, Cluster, ConsumerGroup, GroupState, GroupTotal
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
