"""A reset from its last look to its end, with brokers that do not always do what they should."""

from typing import Any

import pytest

from consumers.models import ResetKind, ResetMethod, ResetStatus, ResetStep
from consumers.rocketmq.wire.codes import RequestCode
from consumers.words.reasons import stored_words
from tests.consumers.resets.applying.conftest import Site, steps
from tests.consumers.resets.applying.fake_offsets import Act
from tests.fake_clock import FakeClock

RESET, COMMIT = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, RequestCode.UPDATE_CONSUMER_OFFSET


def test_every_queue_is_moved_once_to_its_target(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    site.work(reset, clock)
    assert site.offsets() == [300] * 4
    assert [broker.writes for broker in site.brokers.values()] == [[(RESET, 0, 300), (RESET, 1, 300)]] * 2
    assert (steps(reset), reset.status, stored_words(reset.error)) == (["CONFIRMED"] * 4, ResetStatus.APPLIED, None)


def test_it_keeps_where_each_queue_stood_and_what_the_broker_answered(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    site.work(reset, clock)
    kept = reset.queues_of_it.order_by("broker", "queue_id").values_list("before", "answered", "after")
    assert list(kept) == [(500, 300, 300), (501, 300, 300)] * 2
    for row in reset.queues_of_it.all():
        assert reset.started_at < row.before_at <= row.written_at < row.after_at < reset.finished_at


def test_where_it_stood_is_read_again_right_before(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    site.brokers["broker-a"].offsets[0] = 540
    site.work(reset, clock)
    row = reset.queues_of_it.get(broker="broker-a", queue_id=0)
    assert (row.now_offset, row.before) == (500, 540)


def test_a_queue_without_a_commit_is_moved_and_has_no_before(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    del site.brokers["broker-a"].offsets[0]
    reset.queues_of_it.filter(broker="broker-a", queue_id=0).update(now_offset=None, restorable=False)
    site.work(reset, clock)
    row = reset.queues_of_it.get(broker="broker-a", queue_id=0)
    assert (row.before, row.before_at is not None, row.outcome) == (None, True, "CONFIRMED")


def test_without_members_an_offset_is_committed_where_the_broker_moves_none(site: Site, clock: FakeClock) -> None:
    for broker in site.brokers.values():
        broker.server_side = False
    reset = site.applying(300, ResetMethod.COMMIT)
    site.work(reset, clock)
    assert site.brokers["broker-b"].writes == [(COMMIT, 0, 300), (COMMIT, 1, 300)]
    assert (steps(reset), site.offsets()) == (["CONFIRMED"] * 4, [300] * 4)


@pytest.mark.parametrize(("kind", "time", "target"), [(ResetKind.EARLIEST, 0, 0), (ResetKind.LATEST, -1, 1000)])
def test_members_are_told_all_queues_of_a_topic_at_once(
    site: Site, clock: FakeClock, kind: ResetKind, time: int, target: int
) -> None:
    for broker in site.brokers.values():
        broker.server_side, broker.members = False, ("c1",)
    reset = site.applying(target, ResetMethod.CLIENT, kind=kind, value=None)
    site.work(reset, clock)
    assert [broker.writes for broker in site.brokers.values()] == [[(RESET, -1, time)]] * 2
    assert list(reset.queues_of_it.values_list("answered", flat=True)) == [target] * 4


def test_a_queue_that_stands_at_its_target_is_not_written(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    reset.queues_of_it.filter(queue_id=0).update(target=500, method=ResetMethod.NOTHING)
    site.work(reset, clock)
    assert site.offsets() == [500, 300, 500, 300]
    assert (steps(reset), reset.status) == (["CONFIRMED"] * 4, ResetStatus.APPLIED)


def test_a_queue_that_was_left_out_is_not_touched(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    reset.queues_of_it.filter(broker="broker-b").update(left_out="it was read-only")
    site.work(reset, clock)
    assert (site.offsets(), site.brokers["broker-b"].writes) == ([300, 300, 500, 501], [])
    assert (steps(reset), reset.status) == (["CONFIRMED"] * 2 + ["planned"] * 2, ResetStatus.APPLIED)


@pytest.mark.parametrize(
    ("act", "offset", "said", "error"),
    [
        (Act.DO_AND_HANG_UP, 300, "CONFIRMED", "possibly moved"),
        (Act.DO_IN_SILENCE, 300, "CONFIRMED", "possibly moved"),
        (Act.HANG_UP, 500, "UNCHANGED", "possibly moved"),
        (Act.SILENCE, 500, "UNCHANGED", "possibly moved"),
        (Act.REFUSE, 500, "failed", "NO_PERMISSION (16): not now"),
        (Act.LIE, 500, "UNCHANGED", "None"),
    ],
    ids=lambda value: value.value if isinstance(value, Act) else "",
)
def test_whatever_a_broker_does_the_record_is_what_became_of_the_queue(
    site: Site, clock: FakeClock, act: Act, offset: int, said: str, error: str
) -> None:
    reset = site.applying(300)
    site.brokers["broker-a"].acts = [act]
    site.work(reset, clock)
    assert site.offsets() == [offset, 300, 300, 300]
    assert steps(reset) == [said, "CONFIRMED", "CONFIRMED", "CONFIRMED"]
    assert error in str(stored_words(reset.queues_of_it.get(broker="broker-a", queue_id=0).error))
    assert reset.status == (ResetStatus.APPLIED if said == "CONFIRMED" else ResetStatus.PARTIAL)


def moved_of(site: Site, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(site.brokers["broker-b"], name, value)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"members": ("c1",)}, "was offline at the time of the plan, and is online now"),
        ({"permission": 4}, "The permission of broker-b changed from 6"),
        ({"server_side": False}, "useServerSideResetOffset of broker-b changed from yes"),
        ({"end": 999}, "its broker offset fell from 1,000"),
        ({"offsets": {0: 499, 1: 501}}, "it went back from 500 to 499"),
        ({"offsets": {0: 500}}, "has no committed offset now"),
        ({"is_silent": True}, "Could not read broker-b"),
    ],
)
def test_what_moved_since_the_plan_stops_it_and_nothing_is_written(
    site: Site, clock: FakeClock, fields: dict[str, Any], words: str
) -> None:
    reset = site.applying(300)
    moved_of(site, **fields)
    site.work(reset, clock)
    assert site.writes() == 0
    assert any(words in stored_words(sentence) for sentence in reset.moved)
    assert (steps(reset), reset.status) == (["not done"] * 4, ResetStatus.FAILED)
    assert "moved since the plan" in str(stored_words(reset.error))


def test_a_queue_may_go_on_by_as_much_as_is_tolerated(site: Site, clock: FakeClock, settings: Any) -> None:
    settings.RESET_TOLERANCE_MESSAGES = 40
    reset = site.applying(300)
    site.brokers["broker-b"].offsets = {0: 540, 1: 542}
    site.work(reset, clock)
    assert list(map(stored_words, reset.moved)) == [
        "Orders, broker-b, queue 1: it moved from 501 to 542, by more than 40 messages."
    ]
    assert site.writes() == 0


def test_its_worker_says_what_it_did(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    site.work(reset, clock)
    assert [(event.via, stored_words(event.sentence)) for event in reset.events.all()] == [
        ("worker", "A worker started to apply it."),
        ("worker", "Ended: 4 CONFIRMED."),
    ]


@pytest.mark.parametrize("was_begun", [False, True])
def test_on_a_cluster_that_was_marked_read_only_meanwhile_nothing_is_written(
    site: Site, clock: FakeClock, settings: Any, was_begun: bool
) -> None:
    reset = site.applying(300)
    if was_begun:
        reset.queues_of_it.filter(broker="broker-a", queue_id=0).update(step=ResetStep.WRITING, before=500)
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    site.work(reset, clock)
    assert (site.writes(), "prod is marked read-only" in str(stored_words(reset.error))) == (0, True)
    assert steps(reset) == ["UNCHANGED" if was_begun else "not done"] + ["not done"] * 3


def test_one_whose_group_is_gone_ends(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    site.group.delete()
    site.work(reset, clock)
    assert (reset.status, set(steps(reset)), site.writes()) == (ResetStatus.FAILED, {ResetStep.NOT_DONE}, 0)
