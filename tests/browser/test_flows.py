"""Questions that people come with, and how many clicks each takes: docs/clicks.md has the table."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from consumers.jobs.hold import close_wires
from consumers.models import (
    AlertRule,
    Broker,
    Channel,
    ConsumerGroup,
    Reset,
    ResetOutcome,
    ResetStatus,
    ResetStep,
)
from tests.browser.conftest import Site
from tests.browser.flows import Hand
from tests.browser.test_resets import planned
from tests.dead_letter_broker import DeadLetterBroker, a_dead_letter_broker, stored_letter
from tests.retry_rows import a_queue_is_blocked
from tests.world import ago

pytestmark = pytest.mark.usefixtures("shop")


def the_group(name: str) -> ConsumerGroup:
    return ConsumerGroup.objects.get(name=name, cluster__name="prod-a")


@pytest.fixture
def broker(tasks_at_once: None) -> Iterator[DeadLetterBroker]:
    """With the message that blocks inventory."""
    group = the_group("inventory")
    held = a_queue_is_blocked(group)
    with a_dead_letter_broker({}, "inventory") as broker:
        topic = held.queue.topic.name
        broker.letters[topic] = {900: stored_letter(900, b'{"order": 48211}', topic=topic)}
        Broker.objects.filter(cluster=group.cluster, name="broker-a").update(address=broker.address)
        yield broker
        close_wires()


def test_why_billing_is_lagging_takes_two_clicks(site: Site) -> None:
    hand = Hand(site.open("/"))
    hand.click(".attention a >> text=/^billing$/")
    expect(hand.page.locator(".verdict")).to_contain_text("WARN")
    expect(hand.page.locator("#rates-chart .main-svg").first).to_be_visible()
    # Who does the work, and what each takes for a message.
    hand.click("#rows tbody tr:first-child td a")
    hand.page.wait_for_url("**/clients/prod-a/**")
    assert hand.clicks == 2


def test_the_body_of_the_blocking_message_takes_two_clicks(site: Site, broker: DeadLetterBroker) -> None:
    hand = Hand(site.open("/"))
    hand.click("nav.rail >> text=Retries & DLQ")
    hand.click("#show-message-1")
    expect(hand.page.locator("pre.body")).to_contain_text('"order": 48211')
    assert hand.clicks == 2


@pytest.mark.usefixtures("redis")
def test_a_reset_and_its_rollback_take_eight_clicks(site: Site) -> None:
    hand = Hand(site.open("/groups/prod-a/audit/"))
    hand.click("#plan-a-reset")
    hand.click("[name=kind][value=latest]")
    hand.fill("#field-reason", "orders of a test")
    hand.press("Enter")
    hand.page.wait_for_selector("text=The brokers are being asked.")
    reset = Reset.objects.get()
    planned(reset)
    hand.page.wait_for_selector("text=Nothing is changed yet")
    hand.fill("[name=confirm]", "audit")
    hand.press("Enter")
    hand.page.wait_for_selector("progress")
    back = {"step": ResetStep.READ_BACK, "before": 60, "before_at": ago(3), "written_at": ago(2), "after_at": ago(1)}
    reset.queues_of_it.filter(left_out=None).update(outcome=ResetOutcome.CONFIRMED, after=40, **back)
    Reset.objects.filter(pk=reset.pk).update(status=ResetStatus.APPLIED, finished_at=ago(1))
    hand.page.wait_for_selector("text=Plan rollback")
    hand.fill("#acts input[type=text][name=reason]", "it was a test")
    hand.press("Enter")
    hand.page.wait_for_selector("text=The brokers are being asked.")
    rollback = Reset.objects.exclude(pk=reset.pk).get()
    planned(rollback)
    hand.page.wait_for_selector("text=Nothing is changed yet")
    hand.fill("[name=confirm]", "audit")
    hand.click("text=Move the offsets")
    hand.page.wait_for_selector("progress")
    assert hand.clicks == 7


@pytest.mark.usefixtures("redis")
def test_a_rule_with_a_preview_and_a_channel_takes_eight_clicks(site: Site) -> None:
    hand = Hand(site.open("/alerts/rules/"))
    hand.click("#add")
    hand.fill("#field-name", "Slow billing")
    hand.tab_to("#field-threshold")
    hand.fill("#field-threshold", "10 min")
    hand.click("button[name=hours][value='24']")
    hand.page.wait_for_url("**/alerts/previews/*/")
    hand.click("#form")
    hand.click("main form .acts button.primary")
    hand.page.wait_for_url("**/alerts/rules/")
    hand.click("#tab-channels")
    hand.click("main a[href*='kind=webhook']")
    hand.fill("#field-name", "hook")
    hand.tab_to("#field-url")
    hand.fill("#field-url", "https://hooks.example.org/x")
    hand.tab_to("#field-secret")
    hand.fill("#field-secret", "a-secret-that-signs-it")
    hand.press("Enter")
    hand.page.wait_for_url(re.compile(r"/alerts/channels/(\d+/)?$"))
    assert (AlertRule.objects.filter(name="Slow billing").count(), Channel.objects.filter(name="hook").count()) == (
        1,
        1,
    )
    assert hand.clicks == 8


def test_a_client_is_found_in_one_click(site: Site) -> None:
    hand = Hand(site.open("/"))
    hand.press("/")
    hand.type("10.0.0.8@3312")
    hand.press("Enter")
    # It is on two clusters: of one, its page were opened at once.
    hand.click("#found-client .name a >> nth=0")
    hand.page.wait_for_url("**/clients/prod-*/10.0.0.8@3312/**")
    assert (hand.clicks, hand.keys) == (1, 2)


def test_a_reset_plan_from_the_admin_pages_takes_three_clicks(site: Site) -> None:
    hand = Hand(site.open("/admin/"))
    hand.click("#content-main .model-consumergroup th a")
    hand.click("#result_list a >> text=/^billing$/")
    hand.click("text=Reset offsets")
    hand.page.wait_for_url("**/groups/prod-a/billing/resets/plan/")
    assert hand.clicks == 3
