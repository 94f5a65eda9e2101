"""Every page of the site, light and dark, by the rules of WCAG 2.2 AA that a program can judge: axe-core."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.urls import reverse
from playwright.sync_api import Page

from consumers.lake.store import Lake
from dashboard.page_urls import urlpatterns
from tests.browser.conftest import Site
from tests.browser.waiting import wait_until
from tests.walk.addresses import addresses
from tests.walk.test_pages import NO_PAGES, OTHERS
from tests.walk.world import a_known_world

PATHS = sorted(
    path
    for path in addresses(urlpatterns, leave_out=NO_PAGES)
    if not path.startswith(OTHERS) and not path.endswith("/part/")
)
# What these forms show depends on what is chosen; there is no last page.
OF_CHOICES = ["/alerts/channels/add/?kind=email", "/alerts/rules/add/?measure=state", "/patterns/", "/no/such/page/"]
EVERY_RULE = {
    "type": "tag",
    "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"],
}
NARROW = {"width": 390, "height": 844}
WIDE = {"width": 1440, "height": 900}
JUDGE = "options => axe.run(document, options).then(found => found.violations)"
# The pages' policy keeps out every script that is not theirs.
pytestmark = pytest.mark.parametrize("site", [{"bypass_csp": True}], indirect=True)


@pytest.fixture
def known_world(transactional_db: None, settings: Any, tmp_path: Path) -> None:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    a_known_world(Lake.at(str(tmp_path)))


def violations(page: Page) -> list[str]:
    options = {"runOnly": EVERY_RULE, "resultTypes": ["violations"], "iframes": False}
    return [
        f"{fault['id']}: {node['html'][:150]} {node['failureSummary'].splitlines()[1].strip()}"
        for fault in page.evaluate(JUDGE, options)
        for node in fault["nodes"]
    ]


def judged(page: Page) -> list[str]:
    """The page is opened in the light, on a laptop; then it is looked at in the dark, on a phone."""
    page.set_viewport_size(WIDE)
    wait_until(page, "!document.querySelector('[data-figure]:not(:has(.main-svg))')")
    page.evaluate(AXE_SCRIPT)
    found = [f"light: {fault}" for fault in violations(page)]
    page.set_viewport_size(NARROW)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    return found + [f"dark: {fault}" for fault in violations(page)]


def test_no_page_breaks_a_rule_of_accessibility(known_world: None, site: Site) -> None:
    found = []
    for path in (*PATHS, *OF_CHOICES):
        site.page.goto(site.url + path)
        found += [f"{path} {fault}" for fault in judged(site.page)]
    assert found == []


def test_the_api_docs_break_none_in_either_theme(known_world: None, site: Site) -> None:
    """Swagger UI's own markup does: the site's script names what it leaves unnamed."""
    page = site.page
    page.set_viewport_size(WIDE)
    page.goto(site.url + reverse("docs"))
    page.wait_for_selector(".opblock")
    for method in ("get", "post", "put", "patch", "delete"):
        page.locator(f".opblock-{method} .opblock-summary-control").first.click()
    page.get_by_role("button", name="Try it out").first.click()
    page.wait_for_selector(".btn.execute")
    assert page.evaluate("location.hash"), "an operation that is opened has an address"
    page.evaluate(AXE_SCRIPT)
    found = in_both_themes(page)
    page.locator(".btn.authorize").first.click()
    page.wait_for_selector(".modal-ux")
    assert found + in_both_themes(page) == []


def in_both_themes(page: Page) -> list[str]:
    found = []
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        found += [f"{theme}: {fault}" for fault in violations(page)]
    return found


@pytest.mark.parametrize("passwords", [True, False])
def test_a_sign_on_that_failed_breaks_none(site: Site, settings: Any, passwords: bool) -> None:
    settings.CONSUMERSCOPE_OIDC_ISSUER, settings.CONSUMERSCOPE_OIDC_PASSWORDS = "http://127.0.0.1:1", passwords
    site.page.goto(site.url + "/sign-on/?next=/groups/")
    assert "does not answer" in site.page.inner_text("[role=alert]")
    assert judged(site.page) == []


def test_the_judge_finds_a_fault_in_either_light(site: Site) -> None:
    page = site.page
    page.goto(site.url + "/no/such/page/")
    faults = "<button></button><p style='color: light-dark(#000, #222)'>dark on dark</p>"
    page.evaluate("faults => document.querySelector('main').insertAdjacentHTML('beforeend', faults)", faults)
    assert [fault.split(": ")[:2] for fault in judged(page)] == [
        ["light", "button-name"],
        ["dark", "button-name"],
        ["dark", "color-contrast"],
    ]
