"""What a page says: its text and what it says on hover or to a screen reader, without its counts of things listed."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
SPOKEN = ("title", "aria-label", "placeholder")
# How many groups show a state is counted, whatever is known of them.
COUNTERS = re.compile(r"(?:chip|count)-")
# A zero that stands alone or before a unit: not in 2026, 0.41, 10.0.0.7, 0/2 or 02:14.
ZERO = re.compile(r"(?<![\w.,:/–-])-?0(?:\.0+)?(?![\w:–-]|[.,]\w|/\d)[^.·;]{0,20}")


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        is_left_out = self._is_left_out or tag in ("script", "style") or bool(COUNTERS.match(values.get("id") or ""))
        if not is_left_out:
            self.said += [text for name in SPOKEN if (text := values.get(name))]
        if tag not in VOID:
            self._open.append((tag, is_left_out))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and not self._is_left_out:
            self.said.append(" ".join(data.split()))

    @property
    def _is_left_out(self) -> bool:
        return bool(self._open) and self._open[-1][1]


def said(html: str) -> list[str]:
    text = _Text()
    text.feed(html)
    return text.said


def zeros(html: str) -> Iterator[str]:
    for text in said(html):
        yield from (f"{match[0].strip()} in {text[:120]!r}" for match in ZERO.finditer(text))


def drawn_heights(html: str) -> Iterator[float]:
    """The heights of every point of every sparkline; the foot, where zero is, is the largest."""
    for points in re.findall(r'<polyline points="([^"]+)"', html):
        yield from (float(point.split(",")[1]) for point in points.split())
    yield from map(float, re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)" r="1.2"', html))
