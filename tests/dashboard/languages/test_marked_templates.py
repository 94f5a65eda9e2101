"""Everything that a template shows is marked for translation."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.catalogue.extracted import ROOT

TEMPLATES = ROOT / "templates"
# Names and codes that are the same in every language.
SAME_EVERYWHERE = {"Consumerscope", "UTC", "JSON", "RocketMQ", "TLS", "JavaScript"}
# What a reader types as it stands.
VERBATIM = ("topic,broker,queue_id,offset",)
SHOWN = ("title", "aria-label", "placeholder", "alt", "label")
# Parts of templates that another one includes with these names show what they are given.
GIVEN = re.compile(r"""\b(text|label|hint|lead|instead|title)=(["'])(?P<said>[^"']*[a-z]{2}[^"']*)\2""")
BLOCK = re.compile(r"\{%-?\s*blocktranslate\b.*?endblocktranslate\s*%\}", re.DOTALL)
COMMENT = re.compile(r"\{#.*?#\}|\{%\s*comment\b.*?endcomment\s*%\}", re.DOTALL)
TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2,}")


class Shown(HTMLParser):
    """The lines and words of texts and attributes that a reader sees."""

    UNSHOWN = ("code", "pre", "script", "style")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = [value for name, value in attrs if name in SHOWN]
        if tag == "button" or ("type", "submit") in attrs:
            said += [value for name, value in attrs if name == "value" and tag == "input"]
        self._take(" ".join(filter(None, said)))
        if tag in self.UNSHOWN:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._within:
            self._within.remove(tag)

    def handle_data(self, data: str) -> None:
        if not self._within:
            self._take(data)

    def _take(self, text: str) -> None:
        for name in VERBATIM:
            text = text.replace(name, "")
        words = [word for word in WORD.findall(text) if word not in SAME_EVERYWHERE]
        if words:
            self.found.append((self.getpos()[0], " ".join(words)))


def unmarked(text: str) -> Iterator[tuple[int, str]]:
    for tag in re.finditer(r"\{%\s*include\b.*?%\}", text):
        for given in GIVEN.finditer(tag[0]):
            yield text.count("\n", 0, tag.start()) + 1, given["said"]
    bare = text
    for pattern in (COMMENT, BLOCK, TAG):
        bare = pattern.sub(lambda match: " " + "\n" * match[0].count("\n"), bare)
    shown = Shown()
    shown.feed(bare)
    yield from shown.found


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_every_visible_text_is_marked(path: Path) -> None:
    found = [f"{path.relative_to(ROOT)}:{line}: {words}" for line, words in unmarked(path.read_text())]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "<p>Not marked</p>",
        '<p title="Not marked">1</p>',
        '<input placeholder="Not marked">',
        '<input type="submit" value="Not marked">',
        '{% include "level.html" with text="Not marked" %}',
        "<p>{{ n }}\nNot marked</p>",
    ],
)
def test_the_rule_finds_a_text_without_a_mark(text: str) -> None:
    assert "Not marked" in [words for _line, words in unmarked(text)]


@pytest.mark.parametrize(
    "text",
    [
        '<p>{% translate "Marked" %}</p>',
        "<p title=\"{% translate 'Marked' %}\">{% blocktranslate %}Marked {{ n }}{% endblocktranslate %}</p>",
        '{% include "level.html" with text=_("Marked") %}',
        "<code>manage.py poll</code>",
    ],
)
def test_it_leaves_what_is_marked(text: str) -> None:
    assert not list(unmarked(text))
