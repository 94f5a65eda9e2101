"""How a reset ended, by what became of its queues."""

import pytest
from django.utils import translation

from consumers.jobs.hold import Hold, NotHeld
from consumers.models import Reset, ResetMethod, ResetOutcome, ResetStatus, ResetStep
from consumers.resets.request import finish, status_of
from consumers.words.reasons import stored_words
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue
from tests.world import NOW, a_cluster, a_group


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ({"CONFIRMED": 4}, ResetStatus.APPLIED),
        ({}, ResetStatus.APPLIED),
        ({"CONFIRMED": 3, "UNKNOWN": 1}, ResetStatus.PARTIAL),
        ({"CONFIRMED": 3, "not done": 1}, ResetStatus.PARTIAL),
        ({"OVERWRITTEN": 4}, ResetStatus.PARTIAL),
        ({"UNKNOWN": 4}, ResetStatus.PARTIAL),
        ({"written": 4}, ResetStatus.PARTIAL),
        ({"UNCHANGED": 4}, ResetStatus.FAILED),
        ({"UNCHANGED": 1, "failed": 1, "not done": 2}, ResetStatus.FAILED),
    ],
)
def test_it_failed_only_where_no_queue_can_have_been_moved(counts: dict[str, int], status: ResetStatus) -> None:
    assert status_of(counts) == status


@pytest.fixture
def reset(db: None) -> Reset:
    return a_reset(a_group(a_cluster()), status=ResetStatus.APPLYING, started_at=NOW)


def ended(reset: Reset, reason: str | None = None) -> Reset:
    finish(Hold.take(Reset, reset.pk, ResetStatus.APPLYING, NOW), reason, NOW)
    reset.refresh_from_db()
    return reset


def read(reset: Reset, queue_id: int, outcome: ResetOutcome, method: ResetMethod = ResetMethod.SERVER) -> None:
    a_reset_queue(reset, queue_id, step=ResetStep.READ_BACK, outcome=outcome, method=method)


def test_one_with_every_queue_confirmed_is_applied(reset: Reset) -> None:
    read(reset, 0, ResetOutcome.CONFIRMED)
    a_queue_left_out(reset, 1)

    assert (ended(reset).status, stored_words(reset.error), reset.finished_at) == (ResetStatus.APPLIED, None, NOW)
    assert [stored_words(event.sentence) for event in reset.events.all()] == ["Ended: 1 CONFIRMED."]


def test_one_in_part_says_how_many_queues_are_what(reset: Reset) -> None:
    for queue_id, outcome in enumerate(["CONFIRMED", "OVERWRITTEN", "UNKNOWN"]):
        read(reset, queue_id, ResetOutcome(outcome))

    assert ended(reset).status == ResetStatus.PARTIAL
    assert stored_words(reset.error) == "2 of 3 queues not confirmed: 1 OVERWRITTEN, 1 UNKNOWN."


def test_what_became_of_queues_is_stored_as_codes_and_worded_for_who_reads(reset: Reset) -> None:
    read(reset, 0, ResetOutcome.CONFIRMED)
    a_reset_queue(reset, 1, step=ResetStep.FAILED)

    assert (
        ended(reset).error == '{"code": "not_confirmed", "others": 1, "all_queues": 2, "queue_outcomes": {"failed": 1}}'
    )
    with translation.override("zh-hans"):
        assert stored_words(reset.error) == "2 个队列中有 1 个未确认：失败 1。"
        assert stored_words(reset.events.get().sentence) == "已结束：CONFIRMED 1、失败 1。"


def test_one_queue_is_no_queues(reset: Reset) -> None:
    a_reset_queue(reset, step=ResetStep.FAILED)

    assert stored_words(ended(reset).error) == "1 of 1 queue not confirmed: 1 failed."


def test_what_was_not_tried_says_why(reset: Reset) -> None:
    row = a_reset_queue(reset)

    assert ended(reset, "Stopped: it was too late.").status == ResetStatus.FAILED
    row.refresh_from_db()
    assert (row.step, stored_words(row.error), stored_words(reset.error)) == (
        ResetStep.NOT_DONE,
        *["Stopped: it was too late."] * 2,
    )
    assert stored_words(reset.events.get().sentence) == "Ended: 1 not done. Stopped: it was too late."


def test_queues_that_stood_there_do_not_make_a_failed_reset_one_in_part(reset: Reset) -> None:
    read(reset, 0, ResetOutcome.CONFIRMED, ResetMethod.NOTHING)
    a_reset_queue(reset, 1, step=ResetStep.FAILED)

    assert ended(reset).status == ResetStatus.FAILED


def test_a_worker_that_lost_it_ends_nothing(reset: Reset) -> None:
    read(reset, 0, ResetOutcome.CONFIRMED)
    hold = Hold.take(Reset, reset.pk, ResetStatus.APPLYING, NOW)
    Reset.objects.filter(pk=reset.pk).update(working_at=None)

    with pytest.raises(NotHeld):
        finish(hold, None, NOW)
    reset.refresh_from_db()
    assert (reset.status, reset.events.count()) == (ResetStatus.APPLYING, 0)
