"""The catalogue of translations is complete, up to date with the code, and compiled."""

import re
from collections import Counter
from functools import cache

import pytest
from django.utils.translation import gettext, ngettext, override, pgettext

from tests.catalogue import mo, po
from tests.catalogue.extracted import Message, extracted
from tests.catalogue.files import MO, PO

PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[sdrg%]|%\.\d[a-z]|\{\w+\}|</?(?:b|code)>")
KNOWN = po.read(PO)
TRANSLATED = [one for one in KNOWN.values() if one.singular and one.text]


@cache
def messages() -> dict[str, Message]:
    """Asked for by tests, as they run: whoever collects this file only need not read all code for it."""
    return extracted()


def test_it_has_every_message_of_the_code() -> None:
    assert not messages().keys() - KNOWN.keys(), "Run: python -m tests.catalogue"


def test_every_message_is_translated() -> None:
    assert not {key for key in messages() if not KNOWN[key].text}


def test_no_translation_waits_for_a_second_look() -> None:
    assert not [one.singular for one in KNOWN.values() if one.is_fuzzy]


def test_translations_keep_their_placeholders() -> None:
    wrong = [
        (one.singular, one.text)
        for one in TRANSLATED
        if Counter(PLACEHOLDER.findall(one.text))
        not in (Counter(PLACEHOLDER.findall(one.singular)), Counter(PLACEHOLDER.findall(one.plural)))
    ]
    assert not wrong


def test_spaces_at_the_ends_are_kept_where_words_are_joined() -> None:
    wrong = [one.singular for one in TRANSLATED if one.singular[0] == " " != one.text[0]]
    assert not wrong


def test_what_is_compiled_is_what_is_written() -> None:
    # What differs in a megabyte takes half an hour to be told.
    is_current = MO.read_bytes() == mo.compiled(KNOWN.values())
    assert is_current, "Run: python -m tests.catalogue"


def test_django_reads_it() -> None:
    with override("zh-hans"):
        assert gettext("Lag") == "堆积"
        assert ngettext("%(n)s group", "%(n)s groups", 1) == ngettext("%(n)s group", "%(n)s groups", 2)


def test_a_context_tells_two_meanings_apart() -> None:
    with override("zh-hans"):
        assert (pgettext("of a group", "Owner"), gettext("Owner")) == ("负责人", "所有者")


def test_writing_and_reading_gives_the_same() -> None:
    text = po.written(messages().values(), {key: one.text for key, one in KNOWN.items()})
    is_current = text == PO.read_text()
    assert is_current, "Run: python -m tests.catalogue"


@pytest.mark.parametrize("text", ['a "quoted" word', "a back\\slash", "two\nlines", "  spaces "])
def test_any_text_comes_back_as_it_was(tmp_path, text: str) -> None:
    path = tmp_path / "django.po"
    path.write_text(po.written([Message(text, files=["here.py"])], {text: text}))
    assert po.read(path)[text].text == text
