"""Why a message was not resent: stored as a code, shown in words."""

import re

import pytest

from consumers.vocabulary.reasons import ResendCause, stored_reason
from consumers.words.reasons import RESEND_CAUSES, stored_words


@pytest.mark.parametrize("cause", list(ResendCause))
def test_every_cause_has_words_for_its_parameters(cause: ResendCause) -> None:
    names = re.findall(r"%\((\w+)\)s", str(RESEND_CAUSES[cause]))
    shown = str(stored_words(stored_reason(cause, **{name: f"<{name}>" for name in names})))
    assert all(f"<{name}>" in shown for name in names)


def test_a_cause_within_a_cause_is_worded_too() -> None:
    why = stored_reason(ResendCause.ADDRESS_UNKNOWN, broker="broker-a")
    shown = stored_words(stored_reason(ResendCause.MAYBE_SENT, why=why))
    assert shown == "the message may have been sent: the address of broker-a is unknown"


@pytest.mark.parametrize("stored", [None, "SYSTEM_BUSY (2): later", "16", '{"cause": "of another version"}', "{"])
def test_what_is_no_cause_is_shown_as_it_is(stored: str | None) -> None:
    assert stored_words(stored) == stored
