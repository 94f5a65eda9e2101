"""The page of a dead letter in a browser: the answer comes by itself, markup in it does nothing, nothing sticks out."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from consumers.jobs.hold import close_wires
from consumers.models import Broker, ConsumerGroup
from tests.browser.conftest import Site
from tests.dead_letter_broker import DeadLetterBroker, a_dead_letter_broker, stored_letter
from tests.dead_letter_rows import a_letter
from tests.world import ago

BODY = b'{"order": 41, "note": "<script>document.title = 1</script><img src=x onerror=alert(1)>", "long": "' + (
    b"x" * 3000 + b'"}'
)
PAGE = "/groups/prod-a/inventory/dlq/broker-a/0/7/"


@pytest.fixture(autouse=True)
def _broker(shop: None, tasks_at_once: None) -> Iterator[DeadLetterBroker]:
    letters = {7: stored_letter(7, BODY, properties={"customer": "Ada " * 300}, topic="%DLQ%inventory")}
    with a_dead_letter_broker(letters, "inventory") as broker:
        group = ConsumerGroup.objects.get(name="inventory", cluster__name="prod-a")
        Broker.objects.filter(cluster=group.cluster, name="broker-a").update(address=broker.address)
        a_letter(group, 7, stored_id="7F00000100002A9F0000000000001B58", stored_at=ago(60), keys="order-41 " * 30)
        yield broker
        close_wires()


def test_the_answer_takes_the_place_of_the_question_and_markup_in_it_is_text(site: Site) -> None:
    page = site.open(PAGE)
    body = page.locator("pre.body")
    expect(body).to_contain_text("<script>document.title = 1</script>")
    expect(page.locator("#look tbody tr")).to_have_count(4)
    assert page.title().startswith("Dead-letter message UNIQ-7")
    assert page.locator("#look").get_attribute("hx-get") is None
    assert site.objections == []


@pytest.mark.parametrize("width", [1440, 390])
def test_it_is_no_wider_than_the_screen(site: Site, width: int) -> None:
    site.page.set_viewport_size({"width": width, "height": 844})
    page = site.open(PAGE)
    expect(page.locator("pre.body")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("site", [{"java_script_enabled": False}], indirect=True)
def test_without_javascript_a_link_shows_it(site: Site) -> None:
    page = site.open(PAGE)
    page.get_by_role("link", name="show").click()
    expect(page.locator("pre.body")).to_contain_text('"order": 41')


def test_it_asks_again_where_a_question_was_not_answered(site: Site) -> None:
    site.page.clock.install()
    site.context.route("**/parts/**", lambda route: route.fulfill(status=503, body="no"), times=1)
    page = site.open(PAGE)
    page.clock.run_for(1000)
    expect(page.locator("#lost")).to_have_text("server answered with status 503 ")
    page.clock.run_for(6000)
    expect(page.locator("pre.body")).to_be_visible()
    expect(page.locator("#lost")).to_be_hidden()
