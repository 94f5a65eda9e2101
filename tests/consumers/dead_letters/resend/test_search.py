"""What is concluded of a message that may have been sent."""

import threading
from collections.abc import Callable

import pytest

from consumers.dead_letters.resend import plan as searching
from consumers.dead_letters.resend.batch import ResendJob
from consumers.dead_letters.resend.plan import Search, search, send_result
from consumers.dead_letters.resend.run import PATIENCE, settle, work
from consumers.jobs.hold import Answer, Hold, keep_alive
from consumers.models import Resend, ResendOutcome, ResendStatus
from consumers.vocabulary.reasons import ResendCause, reasons_in, stored_reason
from consumers.words.reasons import stored_words
from tests.consumers.dead_letters.resend.conftest import Site, a_resend, an_item, outcomes
from tests.consumers.dead_letters.resend.fake_queues import Act
from tests.fake_clock import FakeClock, Killed

SENT, UNKNOWN, FAILED, PLANNED = (
    ResendOutcome.SENT,
    ResendOutcome.UNKNOWN,
    ResendOutcome.FAILED,
    ResendOutcome.PLANNED,
)


@pytest.mark.parametrize(
    ("looked", "answered", "outcome", "offset"),
    [
        (Search({"m": 7}), False, SENT, 7),
        (Search({"m": 7}), True, SENT, 7),
        (Search({"m": 7}, gap="some are gone"), False, SENT, 7),
        (Search({"other": 7}), False, PLANNED, None),
        (Search(diverted={"m"}), False, FAILED, None),
        (Search(), True, FAILED, None),
        (Search(gap="some are gone"), False, UNKNOWN, None),
        (Search(gap="some are gone"), True, UNKNOWN, None),
    ],
)
def test_it_is_judged_by_what_was_seen(
    looked: Search, answered: bool, outcome: ResendOutcome, offset: int | None
) -> None:
    found = send_result("m", looked, answered=answered)
    assert (found.outcome, found.target_offset) == (outcome, offset)


# The reading of the clock at which the worker notes what the broker answered.
DIES_AFTER_THE_FIRST_SEND = 6


def looked(site: Site, floor: int, *marks: str) -> Search:
    return site.ports.wire.run(search(site.ports.known("broker-a"), "T", 0, floor, set(marks), 0.2))


def test_it_looks_from_the_floor_to_the_end(site: Site) -> None:
    for number in range(100):
        site.broker.put("T", f"consumerscope_resend\x01{number}\x02")
    assert looked(site, 40, "3", "40", "99") == Search({"40": 40, "99": 99})


def test_messages_that_are_gone_leave_a_gap(site: Site) -> None:
    for number in range(10):
        site.broker.put("T", f"KEYS\x01{number}\x02")
    site.broker.first["T", 0] = 4
    assert looked(site, 0, "m").gap == stored_reason(ResendCause.OFFSETS_UNREADABLE, **{"from": 0, "to": 4})


def test_a_queue_that_ends_earlier_than_it_did_leaves_a_gap(site: Site) -> None:
    (found,) = reasons_in(str(looked(site, 3, "m").gap))
    assert not isinstance(found, str)
    assert found["code"] == ResendCause.QUEUE_RECREATED


def test_no_more_than_so_many_are_looked_at(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_MESSAGES", 5)
    for _ in range(9):
        site.broker.put("T", "")
    assert looked(site, 0, "m").gap == stored_reason(ResendCause.TOO_MANY_SINCE, messages=9, searched=5)


def left_sending(site: Site, clock: FakeClock, floor: int) -> Resend:
    """By a worker that died."""
    resend = a_resend(site.group, status=ResendStatus.RUNNING)
    aim = {"target_topic": site.retry, "target_broker": "broker-a", "target_queue_id": 0, "floor_offset": floor}
    an_item(resend, *site.died(1), ResendOutcome.SENDING, at=clock.at, **aim)
    return resend


def test_where_the_target_is_silent_for_long_nobody_knows_and_it_is_not_sent(site: Site, clock: FakeClock) -> None:
    resend = left_sending(site, clock, 0)
    began, clock.stretch = clock.at, 8
    site.broker.broken = {30: Act.SILENCE}
    work(resend.pk, site.ports, clock, clock.pause)
    item = resend.items.get()
    assert item.outcome == UNKNOWN
    assert "could not be read" in str(stored_words(item.error))
    assert site.broker.sends == []
    assert (clock.at - began).total_seconds() >= 150


def test_where_the_target_was_made_anew_nobody_knows(site: Site, clock: FakeClock) -> None:
    resend = left_sending(site, clock, 12)
    work(resend.pk, site.ports, clock, clock.pause)
    assert resend.items.get().outcome == UNKNOWN
    resend.refresh_from_db()
    assert resend.status == ResendStatus.PARTIAL


def test_a_search_that_never_ends_is_tried_again_only_for_a_while(site: Site, clock: FakeClock) -> None:
    resend = left_sending(site, clock, 0)
    item, job = resend.items.get(), ResendJob(resend.pk, site.group, to_group=True)
    hold = Hold.take(Resend, resend.pk, ResendStatus.RUNNING, clock())
    site.broker.awaits = ended = threading.Event()

    def kept(ask: Callable[[], Answer]) -> Answer:
        return keep_alive(hold, clock, ask, beat_seconds=0.01, longest_seconds=0.02)

    settle(site.ports, job, [item], clock(), kept)
    assert item.outcome == ResendOutcome.SENDING
    clock.pass_by(PATIENCE.total_seconds())
    settle(site.ports, job, [item], clock(), kept)
    ended.set()
    assert item.outcome == UNKNOWN
    assert "did not end: the cluster gave no result within 0.02 s" in str(stored_words(item.error))


def test_one_that_was_diverted_to_the_dlq_unseen_is_not_sent_again(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(2))
    site.broker.acts, clock.kill_at = [Act.DIVERT], DIES_AFTER_THE_FIRST_SEND
    with pytest.raises(Killed):
        work(resend.pk, site.ports, clock, clock.pause)
    assert (len(site.broker.sends), outcomes(resend)) == (1, [ResendOutcome.SENDING, PLANNED])
    clock.kill_at = None
    clock.pass_by(31)
    work(resend.pk, site.ports, clock, clock.pause)
    assert (len(site.broker.sends), outcomes(resend)) == (1, [FAILED, ResendOutcome.CANCELLED])
    assert resend.items.all()[0].error == stored_reason(ResendCause.DIVERTED)


def test_one_is_not_sent_again_where_the_dlq_was_made_anew(site: Site, clock: FakeClock) -> None:
    resend = left_sending(site, clock, 0)
    resend.items.update(dlq_floor_offset=12)
    work(resend.pk, site.ports, clock, clock.pause)
    assert (resend.items.get().outcome, site.broker.sends) == (UNKNOWN, [])


def test_one_that_is_not_there_is_sent(site: Site, clock: FakeClock) -> None:
    resend = left_sending(site, clock, 0)
    work(resend.pk, site.ports, clock, clock.pause)
    assert resend.items.get().outcome == SENT
    assert site.broker.keys(site.retry) == ["k0"]
