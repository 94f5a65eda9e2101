"""Waits for what a page's script sees.

Playwright's own wait evaluates a text within the page at each look but the first, which the pages' policy forbids.
"""

import time
from typing import Any

from playwright.sync_api import Page


def wait_until(page: Page, expression: str, arg: Any = None, seconds: float = 240) -> None:
    """`expression` as for `page.evaluate`."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(expression, arg):
        assert time.monotonic() < deadline, f"{expression} did not come true within {seconds:g} s"
        page.wait_for_timeout(50)
