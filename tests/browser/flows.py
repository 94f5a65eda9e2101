"""Counts what a person does: clicks and texts typed, from one page to the answer."""

from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page


@dataclass
class Hand:
    """`clicks`: of the pointer. `keys`: presses of single keys. `texts`: fields that were filled, with a click each."""

    page: Page
    clicks: int = 0
    keys: int = 0
    texts: list[str] = field(default_factory=list)

    def click(self, what: str | Locator) -> None:
        """What `what` finds has to be the only one, and visible."""
        self.clicks += 1
        (self.page.locator(what) if isinstance(what, str) else what).click()

    def press(self, key: str) -> None:
        self.keys += 1
        self.page.keyboard.press(key)

    def tab_to(self, what: str) -> None:
        """Presses Tab until what `what` finds has the focus."""
        place = self.page.locator(what).first
        for _press in range(120):
            if place.evaluate("field => field === document.activeElement"):
                return
            self.press("Tab")
        raise AssertionError(f"no number of tabs leads to {what}")

    def fill(self, what: str, text: str) -> None:
        """A field that has not the focus takes a click first."""
        place = self.page.locator(what)
        if not place.evaluate("field => field === document.activeElement"):
            self.click(place)
        self.type(text)

    def type(self, text: str) -> None:
        self.texts.append(text)
        self.page.keyboard.type(text)
