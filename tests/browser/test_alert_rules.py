"""A rule in a browser: typed, looked at over the past, changed, kept. No worker runs: the test writes its answer."""

from datetime import timedelta

import pytest

from consumers.models import AlertRule, RulePreview
from tests.browser.conftest import Site
from tests.browser.test_alerts import NAMELESS
from tests.world import NOW, ago

pytestmark = pytest.mark.usefixtures("shop", "redis")

BILLING = {"kind": "group", "title": "billing", "cluster": "prod-a", "group": "billing"}


def answered(preview: RulePreview) -> None:
    moments = {"from": ago(4000), "fired_at": ago(3700), "to": ago(2000)}
    told = {name: at.isoformat() for name, at in moments.items()}
    preview.result = {
        "fired": 1,
        "known_from": preview.since.isoformat(),
        "known_to": preview.until.isoformat(),
        "known_seconds": 86400,
        "unknown_seconds": 0,
        "unknown_spans": [],
        "unknown_share_in_data": 0.25,
        "subjects": 4,
        "unknown_subjects": 1,
        "unknown_share": 0.25,
        "step_seconds": 60,
        "left_out": 0,
        "incidents": [{"subject": BILLING, **told, "worst_value": 900.0, "unknown": {}}],
        "by_subject": [{"subject": BILLING, "fired": 1}],
        "per_day": [{"day": "2026-03-13", "fired": 0}, {"day": "2026-03-14", "fired": 1}],
        "notes": ["A condition that was met before the range counts from the start of the range."],
        "unknown": {},
    }
    preview.status, preview.seconds, preview.finished_at = "done", 3.2, NOW
    preview.save()


@pytest.mark.parametrize(
    "site", [{"viewport": {"width": 390, "height": 844}}, {}], indirect=True, ids=["narrow", "wide"]
)
def test_a_rule_is_looked_at_over_the_past_and_kept(site: Site) -> None:
    page = site.open("/alerts/rules/")
    page.click("#add")
    page.fill("#field-name", "Slow billing")
    page.fill("#field-threshold", "10 min")
    page.fill("#field-group_pattern", "bill*")
    assert page.evaluate(NAMELESS) == []
    page.click("button[name=hours][value='24']")
    page.wait_for_url("**/alerts/previews/*/")
    preview = RulePreview.objects.get()
    assert (preview.rule["threshold"], preview.until - preview.since) == (600, timedelta(days=1))
    assert "Waiting for a worker." in page.inner_text("#live")
    answered(preview)
    # It looks again by itself.
    page.wait_for_selector("#verdict")
    assert page.inner_text("#verdict") == "It would have fired 1 time in 1 d: 1 × billing."
    assert "25 % of the values in the range are unknown" in page.inner_text("#unknown")
    assert page.locator(".incident-bars .fired").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(NAMELESS) == []
    page.click("#form")
    assert page.input_value("#field-threshold") == "10 min"
    page.fill("#field-threshold", "20 min")
    page.press("#field-threshold", "Enter")
    page.wait_for_url("**/alerts/rules/")
    assert AlertRule.objects.get(name="Slow billing").threshold == 1200
    assert page.get_by_role("link", name="Slow billing").is_visible()
    assert site.objections == []


def test_the_form_of_a_rule_follows_its_measure_and_keeps_what_was_typed(site: Site) -> None:
    page = site.open("/alerts/rules/add/")
    page.fill("#field-name", "Stopped billing")
    page.focus("#field-measure")
    page.select_option("#field-measure", "state")
    page.wait_for_selector("#field-states")
    assert page.locator("#field-threshold").count() == 0
    assert page.input_value("#field-name") == "Stopped billing"
    assert page.evaluate("document.activeElement.id") == "field-measure"
    assert not page.locator("button[name=look]").is_visible()
    assert AlertRule.objects.filter(name="Stopped billing").count() == 0
    assert site.objections == []
