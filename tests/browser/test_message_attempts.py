"""The attempts of a message in a browser: the answer comes by itself, and nothing of it sticks out or breaks a rule."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from consumers.jobs.hold import close_wires
from consumers.models import Broker, Cluster, ConsumerGroup
from tests.browser.conftest import Site
from tests.browser.test_accessibility import judged
from tests.consumers.messages.index_broker import IndexBroker, an_index_broker
from tests.rebalance_rows import a_part, a_repeat
from tests.world import ago

PAGE = "/groups/prod-a/inventory/messages/?message=order-7"
RETRY, DEAD, LEVELS = "%RETRY%inventory", "%DLQ%inventory", "SCHEDULE_TOPIC_XXXX"


@pytest.fixture(autouse=True)
def _broker(shop: None, tasks_at_once: None) -> Iterator[IndexBroker]:
    with an_index_broker() as broker:
        cluster = Cluster.objects.get(name="prod-a")
        Broker.objects.filter(cluster=cluster, name="broker-a").update(address=broker.address)
        group = ConsumerGroup.objects.get(name="inventory", cluster=cluster)
        topic = group.snapshots.filter(queue__topic__kind="normal").first().queue.topic.name  # type: ignore[union-attr]
        said = {"UNIQ_KEY": "7F0000010BEC18B4AAC2372E3FA00002", "KEYS": "order-7"}
        origin = broker.put(topic, 905, ago(60), **said)
        copied = said | {"RETRY_TOPIC": topic, "ORIGIN_MESSAGE_ID": origin}
        broker.put(LEVELS, 0, ago(55), times=1, REAL_TOPIC=RETRY, **copied)
        broker.put(RETRY, 0, ago(45), times=1, **copied)
        broker.put(DEAD, 0, ago(44), times=2, **copied)
        broker.put(topic, 907, ago(30), UNIQ_KEY="7F0000010BEC18B4AAC2372E3FB10003", KEYS="order-7")
        broker.offsets = {topic: 906, RETRY: 1}
        a_repeat(group, ago(50), parts=[a_part(ago(50), topic=topic)])
        yield broker
        close_wires()


def test_the_answer_takes_the_place_of_the_question(site: Site) -> None:
    page = site.open(PAGE)
    expect(page.locator("#scroll-attempts tbody tr")).to_have_count(4)
    expect(page.locator("#look")).to_contain_text("This is no repeated consumption.")
    assert page.locator("#look").get_attribute("hx-get") is None
    assert site.objections == []


@pytest.mark.parametrize("width", [1440, 390])
def test_it_is_no_wider_than_the_screen(site: Site, width: int) -> None:
    site.page.set_viewport_size({"width": width, "height": 844})
    page = site.open(PAGE)
    expect(page.locator("#scroll-attempts")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("site", [{"bypass_csp": True}], indirect=True)
def test_the_answer_breaks_no_rule_of_accessibility(site: Site) -> None:
    page = site.open(PAGE)
    expect(page.locator("#scroll-attempts")).to_be_visible()
    assert judged(page) == []
