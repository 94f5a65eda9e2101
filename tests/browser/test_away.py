"""Pages in a browser while the database does not answer: what is shown is marked as old, and comes back by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection
from playwright.sync_api import expect

from tests.browser.conftest import Site

pytestmark = pytest.mark.usefixtures("shop")


def refuses(*_arguments: Any) -> None:
    raise OperationalError("server closed the connection") from psycopg.OperationalError("connection refused")


@contextmanager
def database_away() -> Iterator[None]:
    """For the server too: its threads have the connection of the test."""
    with connection.execute_wrapper(refuses):
        yield


def test_what_is_shown_stays_and_is_marked_as_old_until_it_is_refreshed(site: Site) -> None:
    page = site.open("/")
    page.clock.install()
    with database_away():
        page.evaluate("htmx.trigger('#live', 'refresh')")
        expect(page.locator("#lost")).to_contain_text("server answered with status 503: the database does not answer")
        # It grows old also while nothing is asked.
        page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
        page.clock.run_for(20_000)
        expect(page.locator("#lost")).to_contain_text("data is 2")
        expect(page.locator("#freshness summary")).to_contain_text("when last refreshed")
        assert page.evaluate("getComputedStyle(document.getElementById('live')).filter") == "grayscale(1)"
        assert page.locator("ul.attention li").count() > 0
        # Beside the rail, as always.
        assert page.evaluate(
            "document.querySelector('main').offsetLeft === document.querySelector('.rail').offsetWidth"
        )
    page.evaluate("delete document.hidden")
    page.clock.run_for(6000)
    expect(page.locator("#lost")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.getElementById('live')).filter") == "none"
    assert page.inner_text("#freshness summary").endswith("brokers")


def test_a_page_that_could_not_be_opened_opens_once_the_database_answers(site: Site) -> None:
    site.page.clock.install()
    with database_away():
        page = site.open("/clusters/?range=6h")
        expect(page.locator("h1")).to_have_text("The database does not answer")
        page.clock.run_for(6000)
        expect(page.locator("#again")).to_have_text("The page retries every 5 s.")
    page.clock.run_for(6000)
    expect(page.locator("h1")).to_have_text("Clusters")
    assert page.url.endswith("/clusters/?range=6h")
