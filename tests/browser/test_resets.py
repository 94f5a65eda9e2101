"""A reset in a browser, by keyboard alone: planned, refused for a wrong name, applied, read. No worker runs: the test
writes the rows that one would have written.
"""

from itertools import product

import pytest
from playwright.sync_api import Page

from consumers.models import ConsumerGroup, Reset, ResetOutcome, ResetStatus, ResetStep
from tests.browser.conftest import Site
from tests.reset_rows import SEEN, a_queue_left_out, a_reset, a_reset_queue, an_event
from tests.world import ago

pytestmark = pytest.mark.usefixtures("shop", "redis")
NAMELESS = """
    [...document.querySelectorAll('main :is(a, button, input, textarea, summary, [role=img], [role=figure])')]
    .filter(e => e.type !== 'hidden' && !e.hidden)
    .filter(e => !(e.textContent.trim() || e.labels?.length || e.getAttribute('aria-label')))
    .map(e => e.outerHTML.slice(0, 90))
"""
OFFSETS = "/groups/prod-a/inventory/offsets/"


def tab_to(page: Page, selector: str) -> None:
    """Presses Tab until what `selector` finds has the focus."""
    for _press in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no number of tabs leads to {selector}")


def planned(reset: Reset) -> None:
    for number in range(3):
        a_reset_queue(reset, number)
    a_queue_left_out(reset, 3)
    row = Reset.objects.filter(pk=reset.pk)
    row.update(status=ResetStatus.PLANNED, planned_at=ago(1), expires_at=ago(-900), seen=SEEN)


def applied(reset: Reset) -> None:
    back = {"step": ResetStep.READ_BACK, "before": 60, "before_at": ago(3), "written_at": ago(2), "after_at": ago(1)}
    reset.queues_of_it.filter(left_out=None).update(outcome=ResetOutcome.CONFIRMED, after=40, **back)
    reset.queues_of_it.filter(queue_id=2).update(
        outcome=ResetOutcome.OVERWRITTEN, after=62, evidence="10.0.0.7 committed 62."
    )
    Reset.objects.filter(pk=reset.pk).update(status=ResetStatus.PARTIAL, finished_at=ago(1))


def test_a_reset_is_planned_applied_and_read_by_keyboard_alone(site: Site) -> None:
    page = site.open(OFFSETS)
    tab_to(page, "#plan-a-reset")
    page.keyboard.press("Enter")
    page.wait_for_url("**/resets/plan/")
    tab_to(page, "[name=kind]")
    page.keyboard.press("Space")
    assert page.locator("#field-time").is_visible()
    assert not page.locator("#field-offset").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.type("yesterday")
    tab_to(page, "#field-reason")
    page.keyboard.type("orders were lost")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problems:focus")
    tab_to(page, "#problems a")
    page.keyboard.press("Enter")
    page.wait_for_selector("#field-time:focus")
    page.keyboard.press("Control+A")
    page.keyboard.type("2026-03-14 02:14:24")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=The brokers are being asked.")
    reset = Reset.objects.get()
    planned(reset)
    page.wait_for_selector("text=Nothing is changed yet")
    tab_to(page, "[name=confirm]")
    page.keyboard.type("inventori")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problems")
    assert "Type the group's name, inventory, to confirm." in page.locator("#problems").inner_text()
    tab_to(page, "[name=confirm]")
    page.keyboard.type("inventory")
    page.keyboard.press("Enter")
    page.wait_for_selector("progress")
    assert Reset.objects.get().status == ResetStatus.APPLYING
    applied(reset)
    page.wait_for_selector("text=OVERWRITTEN")
    assert page.locator("#scroll-queues tbody tr").first.inner_text().startswith("Orders / broker-a / 2")
    # What was refused was said with its status, and nothing else was objected to.
    assert [said for said in site.objections if "400" not in said and "409" not in said] == []


@pytest.mark.parametrize("site", [{"java_script_enabled": False}], indirect=True)
def test_a_reset_is_planned_and_applied_without_javascript(site: Site) -> None:
    page = site.open("/groups/prod-a/inventory/resets/plan/?kind=offset&value=40")
    page.fill("#field-reason", "orders were lost")
    page.click("text=Plan reset")
    page.wait_for_selector("text=The brokers are being asked.")
    planned(Reset.objects.get())
    page.reload()
    page.fill("[name=confirm]", "inventory")
    page.click("text=Move the offsets")
    page.wait_for_selector("progress")
    assert Reset.objects.get().status == ResetStatus.APPLYING


def test_no_page_of_a_reset_is_wider_than_the_screen_and_all_controls_have_names(site: Site) -> None:
    group = ConsumerGroup.objects.get(cluster__name="prod-a", name="inventory")
    reset = a_reset(group, warnings=["Messages that are skipped are lost to this group."])
    planned(reset)
    an_event(reset)
    paths = ("/groups/prod-a/inventory/resets/plan/?kind=offsets", f"/resets/{reset.pk}/", "/resets/", OFFSETS)
    for width, path in product((1440, 390), paths):
        site.page.set_viewport_size({"width": width, "height": 900})
        page = site.open(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
        assert page.evaluate(NAMELESS) == []
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))
    assert site.objections == []
