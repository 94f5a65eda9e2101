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


def test_the_admin_site_breaks_no_policy(site: Site) -> None:
    site.open("/admin/").wait_for_selector("#site-name")
    assert site.objections == []
