"""The legend of states: each with its meaning and what to do, in the language of the reader."""

import re

import pytest
from django.test import Client
from django.utils.translation import override

from consumers.vocabulary.states import State
from consumers.words.states import MEANINGS, REMEDIES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_it_says_of_every_state_what_it_means_and_what_to_do(viewer: Client, language: str) -> None:
    viewer.cookies["language"] = language
    page = viewer.get("/states/").text.replace("&amp;", "&")
    with override(language):
        assert [state for state in State if str(MEANINGS[state]) not in page or str(REMEDIES[state]) not in page] == []


def test_it_is_linked_from_every_page(viewer: Client) -> None:
    assert 'href="/states/"' in viewer.get("/clusters/").text


def test_its_chinese_is_not_english(viewer: Client) -> None:
    with override("zh-hans"):
        chinese = [str(words) for words in (*MEANINGS.values(), *REMEDIES.values())]
    assert not {str(words) for words in (*MEANINGS.values(), *REMEDIES.values())} & set(chinese)


def test_a_word_that_says_the_same_as_its_code_is_left_out(viewer: Client) -> None:
    row = viewer.get("/states/").text.split('id="state-ok"')[1].split("</th>")[0]
    assert re.findall(r"\bOK\b", row) == ["OK"]
