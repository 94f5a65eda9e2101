"""Going on where a reset ended half-way."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from consumers.models import ConsumerGroup, Reset, ResetMethod, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from consumers.resets.acts import resume
from consumers.resets.target_values import Asker, ResetRefused
from consumers.words.reasons import stored_words
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue, an_asker
from tests.world import NOW, a_cluster, a_group, ago

READ_BACK = ResetStep.READ_BACK


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.fixture
def ann(db: None) -> Asker:
    return an_asker("operator", None, "rest")


def ended(group: ConsumerGroup, **fields: Any) -> Reset:
    said = {"status": ResetStatus.PARTIAL, "started_at": ago(90), "working_at": ago(40), "finished_at": ago(30)}
    return a_reset(group, **{**said, "error": "3 of 4 queues are not confirmed.", "moved": ["it moved"], **fields})


@pytest.mark.parametrize(
    ("step", "outcome", "goes_on"),
    [
        (ResetStep.FAILED, None, True),
        (ResetStep.NOT_DONE, None, True),
        (READ_BACK, ResetOutcome.UNCHANGED, True),
        (READ_BACK, ResetOutcome.CONFIRMED, False),
        (READ_BACK, ResetOutcome.OVERWRITTEN, False),
        (READ_BACK, ResetOutcome.UNKNOWN, False),
    ],
)
def test_only_queues_that_were_not_moved_go_on(
    billing: ConsumerGroup, ann: Asker, step: ResetStep, outcome: ResetOutcome | None, goes_on: bool
) -> None:
    reset = ended(billing)
    a_reset_queue(reset, 0, step=ResetStep.FAILED)
    there = {"step": step, "outcome": outcome, "before": 60, "before_at": ago(80), "error": "refused", "after": 60}
    row = a_reset_queue(reset, 1, **there)
    resume(reset, ann, "billing", NOW)
    row.refresh_from_db()
    assert (row.step == ResetStep.PLANNED) == goes_on
    assert ((row.outcome, row.before, stored_words(row.error), row.after) == (None, None, None, None)) == goes_on


def test_it_is_applied_again_and_its_end_is_forgotten(billing: ConsumerGroup, ann: Asker) -> None:
    reset = ended(billing, applied_by_name="bob")
    a_reset_queue(reset, step=ResetStep.NOT_DONE)
    resume(reset, ann, "billing", NOW)
    reset.refresh_from_db()
    # Its worker asks for the permission of whoever let it go on, who answers for it.
    assert (reset.status, reset.started_at) == (ResetStatus.APPLYING, NOW)
    assert (reset.applied_by, reset.applied_by_name) == (ann.user, "ann")
    assert (reset.working_at, reset.finished_at, reset.moved, stored_words(reset.error)) == (None, None, None, None)
    said = stored_words(reset.events.get().sentence)
    assert said == "Resumed: 1 queue. It had ended early: 3 of 4 queues are not confirmed."


def test_a_queue_that_the_plan_left_out_stays_out(billing: ConsumerGroup, ann: Asker) -> None:
    reset = ended(billing)
    a_reset_queue(reset, 0, step=ResetStep.FAILED)
    left_out = a_queue_left_out(reset, 1)
    ResetQueue.objects.filter(pk=left_out.pk).update(step=ResetStep.NOT_DONE)
    resume(reset, ann, "billing", NOW)
    left_out.refresh_from_db()
    assert left_out.step == ResetStep.NOT_DONE


@pytest.mark.parametrize(
    ("fields", "confirm", "words"),
    [
        ({}, "billin", "Type the group's name"),
        ({"status": ResetStatus.APPLIED}, "billing", "this one is applied"),
        ({"status": ResetStatus.APPLYING}, "billing", "this one is applying"),
        ({"status": ResetStatus.PLANNED}, "billing", "this one is planned"),
        ({"expires_at": NOW}, "billing", "The plan has expired: plan again"),
    ],
)
def test_it_does_not_go_on(
    billing: ConsumerGroup, ann: Asker, fields: dict[str, Any], confirm: str, words: str
) -> None:
    reset = ended(billing, **fields)
    a_reset_queue(reset, step=ResetStep.FAILED)
    with pytest.raises(ResetRefused, match=words):
        resume(reset, ann, confirm, NOW)
    assert ResetQueue.objects.get().step == ResetStep.FAILED


def test_one_whose_queues_were_all_written_does_not_go_on(billing: ConsumerGroup, ann: Asker) -> None:
    reset = ended(billing)
    a_reset_queue(reset, step=READ_BACK, outcome=ResetOutcome.UNKNOWN)
    with pytest.raises(ResetRefused, match="It has no queue left to move"):
        resume(reset, ann, "billing", NOW)


MEMBERS_TOLD: dict[str, Any] = {"method": ResetMethod.CLIENT, "step": READ_BACK}


@pytest.mark.parametrize("outcome", [ResetOutcome.CONFIRMED, ResetOutcome.OVERWRITTEN, ResetOutcome.UNKNOWN])
def test_members_are_not_told_again_of_a_queue_that_moved_beside_one_that_stayed(
    billing: ConsumerGroup, ann: Asker, outcome: ResetOutcome
) -> None:
    """One call tells them all queues of the topic there: what was consumed since would come again, or be skipped."""
    reset = ended(billing)
    stayed = a_reset_queue(reset, 0, outcome=ResetOutcome.UNCHANGED, **MEMBERS_TOLD)
    a_reset_queue(reset, 1, outcome=outcome, **MEMBERS_TOLD)
    with pytest.raises(ResetRefused, match="It has no queue left to move"):
        resume(reset, ann, "billing", NOW)
    a_reset_queue(reset, 0, topic="Payments", step=ResetStep.NOT_DONE, method=ResetMethod.CLIENT)
    resume(reset, ann, "billing", NOW)
    stayed.refresh_from_db()
    assert stayed.outcome == ResetOutcome.UNCHANGED
    assert ResetQueue.objects.get(topic="Payments").step == ResetStep.PLANNED


def test_members_are_told_again_of_queues_that_all_stayed(billing: ConsumerGroup, ann: Asker) -> None:
    reset = ended(billing)
    for queue_id in (0, 1):
        a_reset_queue(reset, queue_id, outcome=ResetOutcome.UNCHANGED, **MEMBERS_TOLD)
    # Another broker's queues are told by another call.
    a_reset_queue(reset, 2, broker="broker-b", outcome=ResetOutcome.CONFIRMED, **MEMBERS_TOLD)
    resume(reset, ann, "billing", NOW)
    assert ResetQueue.objects.filter(step=ResetStep.PLANNED).count() == 2


def test_beside_another_of_its_group_it_does_not_go_on(billing: ConsumerGroup, ann: Asker) -> None:
    reset = ended(billing)
    a_reset_queue(reset, step=ResetStep.FAILED)
    a_reset(billing, status=ResetStatus.APPLYING)
    with pytest.raises(ResetRefused, match="Another reset of this group"):
        resume(reset, ann, "billing", NOW)


def test_a_viewer_does_not_let_it_go_on(billing: ConsumerGroup, db: None) -> None:
    reset = ended(billing)
    a_reset_queue(reset, step=ResetStep.FAILED)
    with pytest.raises(ResetRefused, match="You need the role operator or admin"):
        resume(reset, Asker(User.objects.create_user("eve"), None, "page"), "billing", NOW)
