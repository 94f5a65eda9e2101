"""The marks between parts of a text."""

import pytest
from django.utils.translation import override

from consumers.words.marks import chained, clauses, labelled, listed


@pytest.mark.parametrize(
    ("language", "text"), [("en", "broker-a: 1, 2, lag 80; broker-b"), ("zh-hans", "broker-a：1、2，lag 80；broker-b")]
)
def test_each_language_has_its_own_marks(language: str, text: str) -> None:
    with override(language):
        assert chained([labelled("broker-a", clauses([listed(["1", "2"]), "lag 80"])), "broker-b"]) == text
