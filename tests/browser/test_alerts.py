"""Alerts in a browser: an incident found on a chart, acknowledged and silenced by keyboard; a channel tested."""

import ipaddress
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Page

from consumers.alerts.channels.deliver import deliver
from consumers.models import AlertRule, Channel, ConsumerGroup, Incident, Silence
from tests.alert_rows import (
    a_channel,
    a_delivery,
    a_note,
    a_rule,
    a_silence,
    an_attempt,
    an_evaluation,
    an_incident,
    an_incident_event,
)
from tests.browser.conftest import Site
from tests.browser.test_resets import tab_to
from tests.http_receiver import http_receiver
from tests.world import NOW, ago

# Signs on charts are said by the pages that they lead to.
NAMELESS = """
    [...document.querySelectorAll('main :is(a, button, input, select, textarea, summary, [role=img], [role=figure])')]
    .filter(e => e.type !== 'hidden' && !e.hidden && !e.closest('svg'))
    .filter(e => !(e.textContent.trim() || e.labels?.length || e.getAttribute('aria-label')))
    .map(e => e.outerHTML.slice(0, 90))
"""
pytestmark = pytest.mark.usefixtures("shop", "redis")


@pytest.fixture
def incident(shop: None) -> Incident:
    """The group inventory stalls; others are pending and over."""
    AlertRule.objects.all().delete()
    an_evaluation(ago(6))
    group, audit = (ConsumerGroup.objects.get(cluster__name="prod-a", name=name) for name in ("inventory", "audit"))
    stalled = a_rule("Stalled", measure="state", comparison="in", threshold=None, states=["STALL"], severity="critical")
    said = {"owner": "stock", "runbook_url": "https://wiki.example.org/stock", "labels": {"team": "stock"}}
    said |= {"value": None, "worst_value": None, "state": "STALL", "evidence": "blocked for 12 min on Stock/broker-a/3"}
    fires = an_incident(stalled, group, started_at=ago(1200), fired_at=ago(900), **said)
    an_incident(a_rule(), audit, status="pending", fired_at=None)
    over = {"status": "resolved", "resolved_at": ago(1500), "ending": "recovered", "fired_at": ago(2400)}
    an_incident(a_rule("Retries a lot", severity="info"), group, started_at=ago(2700), **over)
    told = a_delivery(a_channel(), an_incident_event(fires, at=ago(900)))
    an_attempt(told)
    return fires


def test_a_bar_on_the_lag_chart_leads_to_its_incident(site: Site, incident: Incident) -> None:
    page = site.open("/groups/prod-a/inventory/")
    page.wait_for_selector("#lag-chart .annotation-text a >> text=▲")
    # The link is of its text and of the ground under it, which is what is hit.
    page.locator("#lag-chart a[*|href*=incidents]", has=page.locator("rect.bg")).nth(1).click()
    page.wait_for_url(f"**/alerts/incidents/{incident.pk}/")
    page.wait_for_selector("#incident-chart .annotation-text a >> text=▲")
    assert site.objections == []


def test_an_incident_is_acknowledged_and_silenced_by_keyboard_alone(site: Site, incident: Incident) -> None:
    page = site.open("/alerts/")
    tab_to(page, f"#incident-{incident.pk}")
    page.keyboard.press("Enter")
    page.wait_for_selector("#acts")
    tab_to(page, "#field-text")
    page.keyboard.type("on it")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Withdraw acknowledgement")
    assert Incident.objects.get(pk=incident.pk).acknowledgement == "on it"
    tab_to(page, "#field-reason")
    page.keyboard.type("the stock moves")
    page.keyboard.press("Enter")
    page.wait_for_url("**/alerts/silences/")
    assert "the stock moves" in page.locator("#scroll-silences-1").inner_text()
    silence = Silence.objects.get()
    assert (silence.group_pattern, silence.rule, silence.ends_at) == ("inventory", incident.rule, ago(-3600))
    assert site.objections == []


def test_a_webhook_is_added_and_its_test_arrives(site: Site, incident: Incident, settings: Any) -> None:
    settings.CONSUMERSCOPE_ALERT_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    with http_receiver() as receiver:
        page = site.open("/alerts/channels/add/?kind=webhook")
        page.fill("#field-name", "hook")
        page.fill("#field-url", f"http://127.0.0.1:{receiver.port}/x")
        page.fill("#field-secret", "a-secret-that-signs-it")
        page.click("form button >> text=/^Add$/")
        page.click("#test")
        page.wait_for_selector("text=1 notification waits.")
        deliver(Channel.objects.get(name="hook").pk, lambda: NOW + timedelta(seconds=1), lambda seconds: None)
        page.wait_for_selector(".state-ok >> text=sent")
        assert len(receiver.received) == 1
    assert site.objections == []


@pytest.mark.parametrize("site", [{"java_script_enabled": False}], indirect=True)
def test_it_all_works_without_javascript(site: Site, incident: Incident) -> None:
    page = site.open("/alerts/")
    page.fill("[name=group]", "inventory")
    page.click("text=Show")
    page.click(f"#incident-{incident.pk}")
    page.fill("#field-text", "on it")
    page.click("button >> text=Acknowledge")
    page.wait_for_selector("text=Withdraw acknowledgement")
    page.click("#tab-alert_notes")
    page.click("#add")
    page.fill("#field-group_pattern", "inv*")
    page.fill("#field-owner", "stock")
    page.click("form button >> text=/^Add$/")
    assert "inv*" in page.locator("#scroll-notes").inner_text()


def test_no_page_of_alerts_is_wider_than_the_screen_and_all_controls_have_names(site: Site, incident: Incident) -> None:
    a_silence(group_pattern="inventory")
    note = a_note("inv*", owner="stock")
    channel = Channel.objects.get()
    paths = ("/alerts/", f"/alerts/incidents/{incident.pk}/", "/alerts/silences/", "/alerts/channels/")
    paths += (f"/alerts/channels/{channel.pk}/", "/alerts/channels/add/?kind=email", "/alerts/notes/")
    for width, path in product((1440, 390), (*paths, f"/alerts/notes/{note.pk}/")):
        site.page.set_viewport_size({"width": width, "height": 900})
        page: Page = site.open(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
        assert page.evaluate(NAMELESS) == []
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids)), path
    assert site.objections == []
