"""A browser that is led to a provider and back."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from tests.browser.conftest import Site
from tests.oidc_provider import OidcProvider, an_oidc_provider, configure, without_passwords
from tests.world import NOW

pytestmark = [
    pytest.mark.usefixtures("shop"),
    pytest.mark.parametrize("site", [{"anonymous": True}], indirect=True),
]


@pytest.fixture
def provider(settings: Any) -> Iterator[OidcProvider]:
    with an_oidc_provider() as provider:
        configure(settings, provider)
        provider.claims = {"groups": ["sre"]}
        yield provider


def test_a_click_signs_in_and_shows_the_page_that_was_asked_for(site: Site, provider: OidcProvider) -> None:
    page = site.open("/groups/?state=STALL")
    page.get_by_text("Sign in with SSO").click()
    page.wait_for_url("**/groups/?state=STALL")
    assert page.inner_text("#menu-account summary") == "ann"
    assert site.objections == []


def test_without_passwords_nothing_is_clicked_until_one_logs_out(
    site: Site, provider: OidcProvider, settings: Any
) -> None:
    without_passwords(settings)
    page = site.open("/groups/")
    assert page.url == f"{site.url}/groups/"
    page.click("#menu-account summary")
    page.get_by_text("Log out").click()
    page.wait_for_url("**/login/")
    assert page.get_by_text("Sign in with SSO").is_visible()
    assert site.objections == []


def test_a_page_that_is_open_goes_on_past_the_time_of_its_session(
    site: Site, provider: OidcProvider, settings: Any
) -> None:
    """As on a screen on a wall: its part refreshes, finds no session, and the page goes by the provider."""
    without_passwords(settings)
    page = site.open("/groups/")
    with time_machine.travel(NOW + timedelta(hours=2), tick=False), page.expect_navigation(url="**/groups/"):
        page.evaluate("htmx.ajax('GET', '/parts/groups/', {swap: 'none'})")
    assert len(provider.asked) == 2
