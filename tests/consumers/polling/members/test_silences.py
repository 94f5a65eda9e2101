"""Clients that did not answer."""

import pytest

from consumers.polling.members.membership import Silences
from consumers.words.reasons import stored_words
from tests.readings import at

WHOM = ("g", "hung")
ERROR = "no answer within 5 s"


def silences(*failed_at):
    memory = Silences()
    for seconds in failed_at:
        memory.note(WHOM, ERROR, at(seconds))
    return memory


@pytest.mark.parametrize(
    ("failed_at", "now", "is_asked"),
    [((), 0, True), ((0,), 15, True), ((0, 15), 30, False), ((0, 15), 74, False), ((0, 15), 75, True)],
)
def test_a_client_is_left_alone_for_a_minute_from_its_second_silence_on(failed_at, now, is_asked):
    assert (silences(*failed_at).not_asked(WHOM, at(now)) is None) is is_asked


def test_the_reason_names_the_silence_and_when_it_is_asked_again():
    reason = silences(0, 15).not_asked(WHOM, at(30))
    asked, until = "2026-03-01 02:00:15 UTC", "2026-03-01 02:01:15 UTC"
    assert stored_words(reason) == f"{ERROR}; asked at {asked} and again from {until} on"


def test_a_client_that_spoke_is_forgiven():
    memory = silences(0, 15)
    memory.note(WHOM, None, at(75))
    memory.note(WHOM, ERROR, at(90))
    assert memory.not_asked(WHOM, at(105)) is None


def test_clients_that_left_silent_are_forgotten_after_an_hour():
    memory = silences(0)
    memory.forget_old(at(3599))
    assert memory.fell_silent(WHOM)
    memory.forget_old(at(3600))
    assert not memory.fell_silent(WHOM)
    assert memory.asked_at == {}
