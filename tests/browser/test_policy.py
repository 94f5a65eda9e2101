from typing import Any

import pytest

from tests.browser.conftest import Site

pytestmark = pytest.mark.usefixtures("shop")

PAGES = {
    "/": "ul.attention",
    "/groups/": "main table",
    "/groups/prod-a/inventory/": "#lag-chart .main-svg",
    "/groups/prod-b/checkout-eu/": "#queues-chart .main-svg",
    "/clusters/": "main table",
    "/patterns/": "svg.offset-bar",
    "/groups/?search=nothing": ".empty",
}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_breaks_no_policy_and_logs_no_error(site: Site, path: str) -> None:
    site.open(path).wait_for_selector(PAGES[path])
    assert site.objections == []


@pytest.mark.parametrize("site", [{"anonymous": True}], indirect=True)
@pytest.mark.parametrize("path", ["/login/", "/admin/login/"])
def test_a_login_page_breaks_no_policy_and_logs_no_error(site: Site, path: str) -> None:
    site.open(path).wait_for_selector("[name=password]")
    assert site.objections == []


@pytest.mark.parametrize("site", [{"anonymous": True}], indirect=True)
def test_the_login_page_of_a_sign_on_breaks_no_policy(site: Site, settings: Any) -> None:
    """Nobody listens where the provider is said to be: that is an answer with 503, which browsers log."""
    settings.CONSUMERSCOPE_OIDC_ISSUER = "http://127.0.0.1:1"
    site.open("/login/?next=/groups/").get_by_text("Sign in with SSO").click()
    site.page.wait_for_selector("[role=alert]")
    assert "127.0.0.1:1 does not answer" in site.page.inner_text("[role=alert]")
    assert [one for one in site.objections if "503" not in one] == []


def test_the_admin_site_breaks_no_policy(site: Site) -> None:
    site.open("/admin/").wait_for_selector("#site-name")
    assert site.objections == []
