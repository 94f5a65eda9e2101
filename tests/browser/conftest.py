"""A real browser on a real server: Chromium, the shop's groups, and a record of what the browser objects to."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.browser.shop import seed
from tests.world import NOW

CHROMIUM = "/usr/bin/chromium"
# What is expected of a page may take it long on a machine that does other things too.
PATIENCE_MILLISECONDS = 180_000
expect.set_options(timeout=PATIENCE_MILLISECONDS)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    # Fourteen thousand tests have some seven hundred files.
    files = {path for path in {item.path for item in items} if here in path.parents}
    for item in items:
        if item.path in files:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium(django_db_setup: None) -> Iterator[Browser]:
    if not shutil.which(CHROMIUM):
        pytest.skip(f"no Chromium at {CHROMIUM}")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright runs an event loop in this thread; Django would take it for a reason to refuse the database.
        patch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=PATIENCE_MILLISECONDS)
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def _stopped_clock() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def shop(chromium: Browser, transactional_db: None, settings: Any, tmp_path: Path) -> None:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    seed(str(tmp_path))


@dataclass
class Site:
    """The server's address and a browser page that is logged in; `objections` is what the browser complained of."""

    url: str
    page: Page
    context: BrowserContext
    objections: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.url + path)
        self.page.wait_for_load_state("networkidle")
        return self.page

    def watch(self) -> None:
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.objections.append(f"error: {error}"))
        self.page.on("response", lambda reply: self._note_status(reply.status, reply.url))

    def _note(self, kind: str, text: str) -> None:
        if text.startswith("htmx:sendAbort"):
            # Who leaves a page while it asks gives the question up. Of that htmx complains twice, and it is no fault.
            self.objections.remove(text.replace("htmx:sendAbort", "error: htmx:afterRequest"))
        elif kind in ("error", "warning"):
            self.objections.append(f"{kind}: {text}")

    def _note_status(self, status: int, url: str) -> None:
        if status >= 400:
            self.objections.append(f"{status}: {url}")


@pytest.fixture
def site(request: pytest.FixtureRequest, chromium: Browser, live_server: LiveServer) -> Iterator[Site]:
    """Options of the browser's context by indirect parameters; `anonymous` leaves it without a session."""
    options = dict(getattr(request, "param", {}))
    anonymous = options.pop("anonymous", False)
    context = chromium.new_context(**options)
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    if not anonymous:
        client = Client()
        client.force_login(User.objects.create(username="ada", is_staff=True, is_superuser=True))
        cookie = client.cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    opened = Site(live_server.url, context.new_page(), context)
    opened.watch()
    yield opened
    context.close()
