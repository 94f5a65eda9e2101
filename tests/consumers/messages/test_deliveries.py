"""Deliveries of a message: what copies, readings and repeats prove, and what stays possible."""

from datetime import datetime

import pytest

from consumers.messages.deliveries import Cover, Crossing, Delivery, Evidence, crossings, deliveries, least
from consumers.messages.joined import StoredCopy, joined
from consumers.vocabulary.repeats import AttemptProgress
from tests.consumers.messages.made_copies import a_copy, at

CONSUMED, WAITING = AttemptProgress.CONSUMED, AttemptProgress.WAITING


def told(copies: list[StoredCopy], **of: Evidence) -> list[Delivery]:
    """`of`: evidence of the attempt of a kind, by its name; of others nothing is known."""
    [message] = joined(copies)
    return deliveries(message, [of.get(one.kind.value, Evidence(None)) for one in message.attempts])


def bounds(found: list[Delivery]) -> list[tuple[str, datetime | None, datetime | None, bool]]:
    return [(one.basis.value, one.after, one.before, one.certain) for one in found]


def test_a_message_that_waits_was_not_delivered() -> None:
    assert told([a_copy("original", 0)], original=Evidence(WAITING)) == []


def test_nothing_is_told_where_nothing_is_known() -> None:
    assert told([a_copy("original", 0)]) == []


def test_a_consumed_message_was_delivered_before_the_reading_that_has_it_past() -> None:
    """The reading before tells nothing: a commit comes seconds after the delivery."""
    evidence = Evidence(CONSUMED, (Crossing(at(25), at(10)),))
    assert bounds(told([a_copy("original", 0)], original=evidence)) == [("committed", at(0), at(25), True)]


def test_a_consumed_message_without_readings_was_delivered_at_some_time_since_it_was_stored() -> None:
    assert bounds(told([a_copy("original", 0)], original=Evidence(CONSUMED))) == [("committed", at(0), None, True)]


def test_each_send_back_is_a_delivery_and_the_reading_that_passes_it_is_no_other() -> None:
    copies = [a_copy("original", 0), a_copy("delayed", 5, 1), a_copy("retry", 15, 1)]
    found = told(
        copies,
        original=Evidence(CONSUMED, (Crossing(at(18)),)),
        retry=Evidence(CONSUMED, (Crossing(at(33)),)),
    )
    assert bounds(found) == [("sent_back", at(0), at(5), True), ("committed", at(15), at(33), True)]
    assert least(found) == 2


def test_reconsume_times_count_what_has_no_copy() -> None:
    found = told([a_copy("original", 0), a_copy("dead", 60, 17)])
    assert [(one.basis.value, one.times) for one in found] == [("sent_back", 1), ("counted", 16)]
    assert least(found) == 17


def test_a_dead_letter_alone_tells_of_every_delivery_before() -> None:
    found = told([a_copy("dead", 60, 3)])
    assert least(found) == 3
    assert {(one.after, one.before) for one in found} == {(None, at(60))}


@pytest.mark.parametrize("certain", [True, False])
def test_a_crash_that_covers_it_is_a_delivery_before_the_one_that_was_committed(certain: bool) -> None:
    cover = Cover("prod/billing/consumer_crash/1", "consumer_crash", at(20), certain)
    found = told([a_copy("original", 0)], original=Evidence(CONSUMED, (Crossing(at(35)),), (cover,)))
    assert bounds(found) == [("redelivered", at(0), at(20), certain), ("committed", at(0), at(35), True)]
    assert least(found) == (2 if certain else 1)


def test_what_came_after_a_crash_was_delivered_after_it_to_who_held_the_queue_then() -> None:
    cover = Cover("prod/billing/consumer_crash/1", "consumer_crash", at(20), certain=True, after=at(8))
    first, second = told([a_copy("original", 0)], original=Evidence(CONSUMED, (Crossing(at(35)),), (cover,)))
    assert (first.before, first.held) == (at(20), (at(0), at(8)))
    assert (second.after, second.before, second.held) == (at(8), at(35), (at(20), at(35)))


def test_a_message_that_waits_after_a_fall_was_not_delivered_again_yet() -> None:
    cover = Cover("prod/billing/reset_elsewhere/1", "reset_elsewhere", at(400), certain=True)
    found = told([a_copy("original", 0)], original=Evidence(WAITING, (Crossing(at(20)),), (cover,)))
    assert bounds(found) == [("committed", at(0), at(20), True)]
    assert least(found) == 1


def test_an_offset_that_went_back_and_passed_again_needs_no_further_delivery() -> None:
    cover = Cover("prod/billing/reset/1", "reset", at(400), certain=True)
    twice = (Crossing(at(20)), Crossing(at(415), at(400), again_after=at(385)))
    found = told([a_copy("original", 0)], original=Evidence(CONSUMED, twice, (cover,)))
    assert bounds(found) == [("committed", at(0), at(20), True), ("committed", at(325), at(415), True)]


def test_offsets_that_go_back_and_forth_without_a_repeat_prove_no_second_delivery() -> None:
    twice = (Crossing(at(20)), Crossing(at(55), at(40), again_after=at(25)))
    found = told([a_copy("original", 0)], original=Evidence(CONSUMED, twice))
    assert [one.certain for one in found] == [True, False]


def test_an_offset_that_a_reset_set_proves_no_delivery() -> None:
    found = told([a_copy("original", 0)], original=Evidence(CONSUMED, (Crossing(at(20), is_set=True),)))
    assert least(found) == 0


def test_a_repeat_before_it_was_stored_does_not_count() -> None:
    cover = Cover("prod/billing/reset/1", "reset", at(-60), certain=True)
    found = told([a_copy("original", 0)], original=Evidence(CONSUMED, (Crossing(at(20)),), (cover,)))
    assert least(found) == 1


def test_a_clock_that_is_ahead_gives_no_bound_rather_than_a_wrong_one() -> None:
    found = told([a_copy("original", 30)], original=Evidence(CONSUMED, (Crossing(at(25)),)))
    assert bounds(found) == [("committed", None, at(25), True)]
    [only] = told([a_copy("original", 30), a_copy("dead", 20, 1)])
    assert (only.after, only.before) == (None, at(20))


@pytest.mark.parametrize(
    ("readings", "found"),
    [
        ([], ()),
        ([(at(0), 7)], ()),
        ([(at(0), 7), (at(15), 8)], (Crossing(at(15), at(0)),)),
        ([(at(0), 8)], (Crossing(at(0)),)),
        ([(at(0), 7), (at(15), None), (at(30), 9)], (Crossing(at(30), at(0)),)),
        ([(at(0), 9), (at(15), 7), (at(30), 12)], (Crossing(at(0)), Crossing(at(30), at(15), again_after=at(0)))),
        ([(at(0), 9), (at(15), 10)], (Crossing(at(0)),)),
    ],
)
def test_an_offset_passes_a_message_once_it_is_higher(
    readings: list[tuple[datetime, int | None]], found: tuple[Crossing, ...]
) -> None:
    assert crossings(readings, 7) == found


def test_one_repeat_makes_one_round_more_certain_and_not_every_one_that_follows() -> None:
    cover = Cover("prod/billing/consumer_crash/1", "consumer_crash", at(20), certain=True, after=at(8))
    rounds = (Crossing(at(15)), Crossing(at(35)), Crossing(at(45)))
    found = told([a_copy("original", 0)], original=Evidence(CONSUMED, rounds, (cover,)))
    assert [one.certain for one in found] == [True, True, False]
    assert least(found) == 2
