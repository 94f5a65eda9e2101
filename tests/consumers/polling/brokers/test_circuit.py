"""When a broker is left alone. Times and chance are given."""

import pytest

from consumers.polling.memory import Circuit, Patience
from consumers.rocketmq.wire.codes import DeadlineExceeded, Unreachable, refused
from consumers.words.reasons import stored_words
from tests.readings import at

PATIENCE = Patience(failures=3, open_seconds=30, busy_seconds=10, busy_limit_seconds=60)
DEAD = Unreachable("refused", address="b:1")
BUSY = refused(2, "too many requests", 43, address="b:1")


def a_circuit(*outcomes, seconds=15, chance=1.0):
    """One outcome every `seconds`, from second 0 on."""
    circuit = Circuit(PATIENCE)
    for number, outcome in enumerate(outcomes):
        circuit.note(outcome, at(number * seconds), chance)
    return circuit


@pytest.mark.parametrize("outcomes", [[], [None], [DEAD], [DEAD, DEAD], [DEAD, DEAD, None], [DEAD, DEAD, None, DEAD]])
def test_a_broker_is_asked_in_every_reading_before_it_failed_three_times_in_a_row(outcomes):
    circuit = a_circuit(*outcomes)
    assert (circuit.not_asked(at(1000)), circuit.not_asked(at(0)), circuit.is_open) == (None, None, False)


def test_after_three_failures_in_a_row_it_is_left_alone_for_the_period_and_says_so():
    circuit = a_circuit(DEAD, DEAD, DeadlineExceeded("no answer", address="b:1"))
    expected = "b:1: no answer; after 3 failures in a row not asked again until 2026-03-01 02:01:00 UTC"
    assert [stored_words(circuit.not_asked(at(second))) for second in (31, 59, 60)] == [expected, expected, None]


def test_a_probe_that_fails_begins_another_period():
    circuit = a_circuit(DEAD, DEAD, DEAD)
    assert stored_words(circuit.note(DEAD, at(60), 1.0)) == (
        "b:1: refused; after 4 failures in a row not asked again until 2026-03-01 02:01:30 UTC"
    )
    assert (circuit.not_asked(at(89)) is None, circuit.not_asked(at(90))) == (False, None)


@pytest.mark.parametrize("answer", [None, refused(16, "no permission", 43)])
def test_any_answer_ends_it(answer):
    circuit = a_circuit(DEAD, DEAD, DEAD, DEAD)
    circuit.note(answer, at(90), 1.0)
    assert (circuit.is_open, circuit.not_asked(at(91))) == (False, None)


def test_a_busy_broker_is_not_asked_for_a_time_that_doubles_up_to_a_limit():
    circuit, pauses = Circuit(PATIENCE), []
    for _ in range(5):
        circuit.note(BUSY, at(0), 1.0)
        pauses.append((circuit.asked_from - at(0)).total_seconds())
    assert pauses == [10, 20, 40, 60, 60]


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 5), (0.5, 7.5), (1.0, 10)])
def test_chance_spreads_a_pause_over_its_second_half(chance, seconds):
    circuit = a_circuit(BUSY, chance=chance)
    assert circuit.asked_from == at(seconds)


def test_the_reason_says_that_it_is_busy_and_until_when():
    circuit = a_circuit(BUSY)
    assert stored_words(circuit.not_asked(at(9))) == (
        "b:1: GET_ALL_CONSUMER_OFFSET (43) was refused with SYSTEM_BUSY (2): too many requests; "
        "not asked again until 2026-03-01 02:00:10 UTC"
    )


def test_a_broker_that_is_no_longer_busy_begins_at_the_first_pause_again():
    circuit = a_circuit(BUSY, BUSY, BUSY, None, BUSY)
    assert circuit.asked_from == at(4 * 15 + 10)
