"""A re-send from its first message to its end, with a broker that does not always do what it should."""

from datetime import datetime, timedelta

import pytest

from consumers.dead_letters.resend.run import work
from consumers.models import ResendOutcome, ResendStatus
from consumers.vocabulary.reasons import ResendCause, stored_reason
from consumers.words.reasons import stored_words
from tests.consumers.dead_letters.resend.conftest import Site, a_resend, an_item, outcomes
from tests.consumers.dead_letters.resend.fake_queues import Act
from tests.fake_clock import FakeClock
from tests.world import NOW

SENT, FAILED, UNKNOWN = ResendOutcome.SENT, ResendOutcome.FAILED, ResendOutcome.UNKNOWN
SKIPPED, CANCELLED = ResendOutcome.SKIPPED, ResendOutcome.CANCELLED


def test_every_message_is_sent_once_and_in_order(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(40))
    work(resend.pk, site.ports, clock, clock.pause)
    assert site.broker.keys(site.retry) == [f"k{number}" for number in range(40)]
    assert set(outcomes(resend)) == {SENT}
    resend.refresh_from_db()
    assert (resend.status, resend.error) == (ResendStatus.DONE, None)


def test_it_notes_where_each_message_went(site: Site, clock: FakeClock) -> None:
    site.broker.put(site.retry, "KEYS\x01other\x02")
    resend = site.running(site.died(2))
    work(resend.pk, site.ports, clock, clock.pause)
    noted = resend.items.values_list(
        "target_topic", "target_broker", "target_queue_id", "floor_offset", "target_offset"
    )
    assert list(noted) == [(site.retry, "broker-a", 0, 1, 1), (site.retry, "broker-a", 0, 2, 2)]


def test_the_dead_letters_stay(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(3))
    work(resend.pk, site.ports, clock, clock.pause)
    assert site.broker.keys(site.dlq) == ["k0", "k1", "k2"]


def test_to_its_own_topic_it_goes_without_the_marks_of_a_retry(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(1), to_group=False)
    work(resend.pk, site.ports, clock, clock.pause)
    assert site.broker.queues["Orders", 0] == [
        (f"KEYS\x01k0\x02consumerscope_resend\x01{resend.pk.hex}/{resend.items.get().pk}\x02", b"body")
    ]


def test_the_pace_is_the_planned_one(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(40), rate=20)
    began = clock.at
    work(resend.pk, site.ports, clock, clock.pause)
    assert timedelta(seconds=2) <= clock.at - began < timedelta(seconds=3)


@pytest.mark.parametrize(
    ("act", "outcome", "copies"),
    [
        (Act.STORE_UNFLUSHED, SENT, 1),
        (Act.STORE_AND_HANG_UP, SENT, 1),
        (Act.STORE_IN_SILENCE, SENT, 1),
        (Act.HANG_UP, SENT, 1),
        (Act.SILENCE, SENT, 1),
        (Act.REFUSE, FAILED, 0),
    ],
    ids=lambda value: value.value if isinstance(value, Act) else "",
)
def test_whatever_the_broker_does_with_a_message_it_is_there_once_or_said_not_to_be(
    site: Site, clock: FakeClock, act: Act, outcome: ResendOutcome, copies: int
) -> None:
    resend = site.running(site.died(4))
    site.broker.acts = [Act.STORE, act]
    work(resend.pk, site.ports, clock, clock.pause)
    assert outcomes(resend) == [SENT, outcome, SENT, SENT]
    assert site.broker.keys(site.retry) == ["k0", *["k1"] * copies, "k2", "k3"]


def test_nothing_is_concluded_before_a_late_request_must_have_arrived(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(1))
    site.broker.acts = [Act.STORE_IN_SILENCE]
    work(resend.pk, site.ports, clock, clock.pause)
    assert clock.at - NOW >= timedelta(seconds=30)
    assert max(clock.pauses) <= 5


def test_what_was_to_follow_one_whose_outcome_is_open_was_certainly_not_sent(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(3))
    site.broker.acts = [Act.STORE, Act.HANG_UP]
    clock.stretch = 8

    def failing() -> datetime:
        if len(site.broker.sends) == 2:
            site.broker.broken = {30: Act.SILENCE}
        return clock()

    work(resend.pk, site.ports, failing, clock.pause)
    assert outcomes(resend) == [SENT, UNKNOWN, FAILED]


def test_a_refused_message_says_why(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(2))
    site.broker.acts = [Act.STORE, Act.REFUSE]
    work(resend.pk, site.ports, clock, clock.pause)
    assert "NO_PERMISSION (16): not now" in str(resend.items.last().error)
    resend.refresh_from_db()
    assert resend.status == ResendStatus.PARTIAL


def test_it_stops_when_one_after_the_other_is_refused(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(60))
    site.broker.acts = [Act.REFUSE] * 60
    work(resend.pk, site.ports, clock, clock.pause)
    assert outcomes(resend).count(FAILED) == 16
    assert outcomes(resend).count(CANCELLED) == 44
    resend.refresh_from_db()
    assert resend.status == ResendStatus.FAILED
    assert resend.error == stored_reason(ResendCause.FAILURES_IN_A_ROW, messages=16)


def test_a_broker_that_diverts_messages_to_the_dead_letters_gets_one_of_them_only(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(20))
    site.broker.put(site.retry, "KEYS\x01other\x02")
    for _ in range(30):
        site.broker.put(site.retry, "KEYS\x01other\x02")
    site.broker.acts = [Act.DIVERT] * 20
    work(resend.pk, site.ports, clock, clock.pause)
    assert len(site.broker.queues[site.dlq, 0]) == 21
    assert outcomes(resend) == [FAILED] + [CANCELLED] * 19
    resend.refresh_from_db()
    assert resend.error == stored_reason(ResendCause.DIVERTED)


def test_a_diverted_message_whose_offset_the_retry_topic_has_not_reached_is_found_out_too(
    site: Site, clock: FakeClock
) -> None:
    resend = site.running(site.died(3))
    site.broker.acts = [Act.DIVERT]
    work(resend.pk, site.ports, clock, clock.pause)
    assert outcomes(resend) == [FAILED, CANCELLED, CANCELLED]
    assert len(site.broker.sends) == 1


def test_a_dead_letter_that_is_gone_is_not_sent(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(3))
    site.broker.first[site.dlq, 0] = 1
    work(resend.pk, site.ports, clock, clock.pause)
    assert outcomes(resend) == [SKIPPED, SENT, SENT]
    assert resend.items.first().error == stored_reason(ResendCause.MESSAGE_GONE)


def test_another_message_in_the_place_of_the_planned_one_is_not_sent(site: Site, clock: FakeClock) -> None:
    resend = a_resend(site.group, status=ResendStatus.RUNNING)
    an_item(resend, *site.died(1), stored_id="OTHER", target_topic=site.retry)
    work(resend.pk, site.ports, clock, clock.pause)
    assert outcomes(resend) == [SKIPPED]
    assert site.broker.sends == []


def test_a_retry_topic_that_takes_no_messages_is_not_tried(site: Site, clock: FakeClock) -> None:
    site.broker.permission = 4
    resend = site.running(site.died(1))
    work(resend.pk, site.ports, clock, clock.pause)
    assert "readable and writable" in str(stored_words(resend.items.get().error))
    assert site.broker.sends == []


def test_a_message_that_does_not_say_where_it_came_from_is_not_sent_to_the_group(site: Site, clock: FakeClock) -> None:
    resend = site.running([site.broker.put(site.dlq, "KEYS\x01k\x02")])
    work(resend.pk, site.ports, clock, clock.pause)
    assert outcomes(resend) == [FAILED]


def test_a_cancelled_one_ends_with_the_batch_at_hand(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(5))
    resend.cancel_wanted = True
    resend.save()
    work(resend.pk, site.ports, clock, clock.pause)
    assert outcomes(resend) == [CANCELLED] * 5
    resend.refresh_from_db()
    assert (resend.status, resend.finished_at is not None) == (ResendStatus.CANCELLED, True)


def test_a_message_that_another_resend_sent_meanwhile_is_left_out(site: Site, clock: FakeClock) -> None:
    offsets = site.died(2)
    resend = site.running(offsets)
    an_item(a_resend(site.group, status=ResendStatus.DONE), offsets[0], SENT, at=clock.at)
    work(resend.pk, site.ports, clock, clock.pause)
    assert outcomes(resend) == [SKIPPED, SENT]
    assert stored_words(resend.items.first().error) == "resent at 2026-03-14 03:00:00 UTC by ann"


def test_it_is_sent_again_where_that_is_wanted(site: Site, clock: FakeClock) -> None:
    offsets = site.died(1)
    an_item(a_resend(site.group, status=ResendStatus.DONE), offsets[0], SENT, at=clock.at)
    resend = site.running(offsets, again=True)
    work(resend.pk, site.ports, clock, clock.pause)
    assert outcomes(resend) == [SENT]
