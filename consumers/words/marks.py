"""The marks between parts of a text. Chinese has its own, without spaces: names are listed with another one than
clauses.
"""

from collections.abc import Iterable

from django.utils.translation import pgettext


def between_names() -> str:
    return pgettext("between names", ", ")


def listed(names: Iterable[str]) -> str:
    """`broker-a, broker-b`: names and numbers."""
    return between_names().join(names)


def clauses(parts: Iterable[str]) -> str:
    """`no commit for 12 min, lag 80 messages`"""
    return pgettext("between clauses", ", ").join(parts)


def chained(sentences: Iterable[str]) -> str:
    """`broker-a: timed out; broker-b: timed out`"""
    return pgettext("between sentences", "; ").join(sentences)


def labelled(label: object, text: object) -> str:
    """`broker-a: timed out`"""
    return f"{label}{pgettext('after a label', ': ')}{text}"


def bracketed(text: object) -> str:
    """To go right behind a word: ` (timed out)`. Full-width brackets have their space within."""
    shown = pgettext("in brackets after a word", "(%s)") % text
    return f" {shown}" if shown.startswith("(") else shown
