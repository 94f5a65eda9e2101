"""Giving up plans, and ending those that nobody ends."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.signals import post_save

from consumers.jobs.hold import Hold
from consumers.models import ConsumerGroup, Reset, ResetEvent, ResetOutcome, ResetStatus, ResetStep
from consumers.resets.acts import cancel
from consumers.resets.applying.run import abandon
from consumers.resets.request import expire, expire_untaken, refuse_forgotten, refuse_unplanned
from consumers.resets.target_values import Asker, ResetRefused
from consumers.words.reasons import stored_words
from tests.dying import dies_at
from tests.reset_rows import a_reset, a_reset_queue, an_asker
from tests.world import NOW, a_cluster, a_group, ago

PLANNED, PLANNING = ResetStatus.PLANNED, ResetStatus.PLANNING


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.fixture
def ann(db: None) -> Asker:
    return an_asker("admin", "10.1.2.3", "page")


def test_a_cancelled_plan_ends_at_once(billing: ConsumerGroup, ann: Asker) -> None:
    reset = a_reset(billing)
    cancel(reset, ann, NOW)
    reset.refresh_from_db()
    assert (reset.status, reset.finished_at) == (ResetStatus.CANCELLED, NOW)
    assert (reset.events.get().by_name, stored_words(reset.events.get().sentence)) == ("ann", "Cancelled the plan.")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (ResetStatus.APPLYING, "not broken off half-way"),
        (ResetStatus.APPLIED, "this reset is applied"),
        (ResetStatus.EXPIRED, "this reset is expired"),
        (PLANNING, "this reset is planning"),
    ],
)
def test_only_a_plan_is_cancelled(billing: ConsumerGroup, ann: Asker, status: ResetStatus, words: str) -> None:
    reset = a_reset(billing, status=status)
    a_reset_queue(reset, step=ResetStep.WRITTEN)
    with pytest.raises(ResetRefused, match=words):
        cancel(reset, ann, NOW)
    assert Reset.objects.get().status == status


APPLYING = {"status": ResetStatus.APPLYING, "started_at": ago(60)}
BEFORE_IT_WENT_ON = {"step": ResetStep.READ_BACK, "outcome": ResetOutcome.CONFIRMED, "written_at": ago(90)}


def test_one_that_is_applied_is_cancelled_while_no_broker_was_told(billing: ConsumerGroup, ann: Asker) -> None:
    reset = a_reset(billing, **APPLYING)
    row = a_reset_queue(reset)
    cancel(reset, ann, NOW)
    reset.refresh_from_db()
    row.refresh_from_db()
    assert (reset.status, reset.finished_at, row.step) == (ResetStatus.CANCELLED, NOW, ResetStep.NOT_DONE)
    assert stored_words(reset.error) == stored_words(row.error) == "Cancelled by ann before any broker was changed."
    assert stored_words(reset.events.get().sentence) == "Cancelled before any broker was changed."


def test_one_that_went_on_and_is_cancelled_keeps_what_it_had_moved(billing: ConsumerGroup, ann: Asker) -> None:
    reset = a_reset(billing, **APPLYING)
    a_reset_queue(reset, 0, **BEFORE_IT_WENT_ON)
    a_reset_queue(reset, 1)
    cancel(reset, ann, NOW)
    reset.refresh_from_db()
    assert reset.status == ResetStatus.PARTIAL


@pytest.mark.parametrize(
    "row",
    [
        *({"step": step} for step in (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED)),
        BEFORE_IT_WENT_ON | {"written_at": ago(30)},
    ],
)
def test_one_of_which_a_broker_was_told_is_not_cancelled(
    billing: ConsumerGroup, ann: Asker, row: dict[str, Any]
) -> None:
    reset = a_reset(billing, **APPLYING)
    a_reset_queue(reset, 0, **row)
    a_reset_queue(reset, 1)
    with pytest.raises(ResetRefused, match="not broken off half-way"):
        cancel(reset, ann, NOW)


@pytest.mark.parametrize(
    ("fields", "is_ended"),
    [
        ({"started_at": ago(301)}, True),
        ({"started_at": ago(299)}, False),
        ({"started_at": ago(3600), "working_at": ago(10)}, False),
        ({"started_at": ago(3600), "status": PLANNED}, False),
    ],
)
def test_what_no_worker_takes_up_moves_nothing_once_one_is_back(
    billing: ConsumerGroup, fields: dict[str, Any], is_ended: bool
) -> None:
    reset = a_reset(billing, **{"status": ResetStatus.APPLYING, **fields})
    row = a_reset_queue(reset)
    assert expire_untaken(NOW) == is_ended
    reset.refresh_from_db()
    row.refresh_from_db()
    assert (reset.status == ResetStatus.EXPIRED) == (row.step == ResetStep.NOT_DONE) == is_ended
    assert ("No worker started it within 5 minutes" in str(stored_words(reset.error))) == is_ended


def test_a_viewer_cancels_nothing(billing: ConsumerGroup) -> None:
    with pytest.raises(ResetRefused, match="You need the role operator or admin"):
        cancel(a_reset(billing), Asker(User.objects.create_user("eve"), None, "page"), NOW)


def test_plans_expire(billing: ConsumerGroup) -> None:
    old, young = a_reset(billing, expires_at=NOW), a_reset(billing, expires_at=NOW + timedelta(seconds=1))
    assert expire(NOW) == 1
    old.refresh_from_db()
    young.refresh_from_db()
    assert (old.status, old.finished_at, young.status) == (ResetStatus.EXPIRED, NOW, PLANNED)
    assert (old.events.get().via, stored_words(old.events.get().sentence)) == ("worker", "The plan expired.")


def test_a_plan_that_is_applied_just_then_does_not_expire(billing: ConsumerGroup) -> None:
    both = [a_reset(billing, expires_at=NOW), a_reset(billing, expires_at=NOW)]

    def apply_the_other(instance: ResetEvent, **_: Any) -> None:
        Reset.objects.exclude(pk=instance.reset_id).update(status=ResetStatus.APPLYING)

    post_save.connect(apply_the_other, sender=ResetEvent)
    try:
        assert expire(NOW) == 1
    finally:
        post_save.disconnect(apply_the_other, sender=ResetEvent)
    assert {Reset.objects.get(pk=reset.pk).status for reset in both} == {ResetStatus.EXPIRED, ResetStatus.APPLYING}


@pytest.mark.parametrize(
    ("fields", "is_refused"),
    [
        ({"status": PLANNING, "created_at": ago(61)}, True),
        ({"status": PLANNING, "created_at": ago(59)}, False),
        ({"status": PLANNING, "created_at": ago(200), "working_at": ago(59)}, False),
        ({"status": PLANNING, "created_at": ago(200), "working_at": ago(61)}, True),
        ({"status": PLANNED, "created_at": ago(200)}, False),
    ],
)
def test_what_no_worker_plans_is_refused(billing: ConsumerGroup, fields: dict[str, Any], is_refused: bool) -> None:
    reset = a_reset(billing, planned_at=None, **fields)
    assert refuse_forgotten(NOW) == is_refused
    reset.refresh_from_db()
    assert (reset.status == ResetStatus.REFUSED) == is_refused
    assert ("No worker started planning" in str(stored_words(reset.error))) == is_refused


@pytest.mark.parametrize(("status", "error"), [(PLANNING, "Redis does not answer"), (PLANNED, None)])
def test_without_redis_a_wish_is_refused_unless_it_is_planned(
    billing: ConsumerGroup, status: ResetStatus, error: str | None
) -> None:
    reset = a_reset(billing, status=status)
    refuse_unplanned(reset.pk, "Redis does not answer", NOW)
    reset.refresh_from_db()
    assert stored_words(reset.error) == error


@pytest.mark.django_db
def test_a_worker_that_dies_while_it_ends_a_reset_leaves_it_as_it_was() -> None:
    reset = a_reset(a_group(a_cluster()), status=ResetStatus.APPLYING, started_at=ago(60), working_at=None)
    a_reset_queue(reset, step=ResetStep.WRITTEN, written_at=ago(50))
    with dies_at('"finished_at" ='):
        abandon(Hold.take(Reset, reset.pk, ResetStatus.APPLYING, NOW), "The secret is gone.", NOW)
    reset.refresh_from_db()
    queue = reset.queues_of_it.get()
    assert (reset.status, queue.step, queue.outcome) == (ResetStatus.APPLYING, ResetStep.WRITTEN, None)
