"""What a preview found, as its row stores it, and as it is read: reasons are codes there, and words here."""

from collections.abc import Mapping
from typing import Any

from consumers.vocabulary.reasons import to_store
from consumers.words.reasons import stored_words

# Of these names the values are reasons; every other text is a name or a time.
REASONS = ("excluded", "reasons", "unknown")


def stored_result(found: Any) -> Any:
    """As a row stores it: codes in place of words."""
    if isinstance(found, Mapping):
        return {name: stored_result(one) for name, one in found.items()}
    if isinstance(found, list):
        return [stored_result(one) for one in found]
    return to_store(found) if isinstance(found, str) else found


def worded_result(stored: Any, is_reason: bool = False) -> Any:
    """A stored result in the language of who reads it."""
    if isinstance(stored, Mapping):
        return {name: worded_result(one, is_reason or name in REASONS) for name, one in stored.items()}
    if isinstance(stored, list):
        return [worded_result(one, is_reason) for one in stored]
    return stored_words(stored) if is_reason and isinstance(stored, str) else stored
