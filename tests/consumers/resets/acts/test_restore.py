"""The way back: which queues it returns where, and when there is none."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from consumers.models import (
    ConsumerGroup,
    Reset,
    ResetEvent,
    ResetKind,
    ResetMethod,
    ResetOutcome,
    ResetStatus,
    ResetStep,
)
from consumers.resets.acts import restore, why_not_restored
from consumers.resets.past_offsets import offsets_before
from consumers.resets.target_values import Asker, QueueKey, ResetRefused
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue, an_asker
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot

pytestmark = pytest.mark.django_db

BACK = {"step": ResetStep.READ_BACK, "outcome": ResetOutcome.CONFIRMED, "before": 60}


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster), 40, 100)
    return group


@pytest.fixture
def asker() -> Asker:
    return an_asker("operator", "10.0.0.9", "page")


def an_applied(group: ConsumerGroup, status: ResetStatus = ResetStatus.APPLIED, **queue: Any) -> Reset:
    reset = a_reset(group, status=status)
    a_reset_queue(reset, **{**BACK, **queue})
    return reset


def before(reset: Reset) -> dict[int, int | str]:
    asked = Reset(kind=ResetKind.RESTORE, value=str(reset.pk))
    return {key.queue_id: offset for key, offset in offsets_before(asked).items()}


@pytest.mark.parametrize("status", [ResetStatus.APPLIED, ResetStatus.PARTIAL, ResetStatus.FAILED])
def test_it_asks_for_a_plan_that_names_the_reset(group: ConsumerGroup, asker: Asker, status: ResetStatus) -> None:
    reset = an_applied(group, status)
    way_back = restore(reset, asker, "it was the wrong hour", NOW)
    way_back.refresh_from_db()
    assert (way_back.kind, way_back.value, way_back.status) == ("restore", str(reset.pk), "planning")
    assert (way_back.restores, way_back.clip, way_back.reason) == (reset, False, "it was the wrong hour")
    assert ResetEvent.objects.get(reset=way_back).by_name == "ann"


def test_it_is_clipped_only_where_that_was_asked_for(group: ConsumerGroup, asker: Asker) -> None:
    assert restore(an_applied(group), asker, "messages expired", NOW, clip=True).clip


@pytest.mark.parametrize("step", [ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED, ResetStep.READ_BACK])
def test_a_queue_that_may_have_been_changed_goes_back(group: ConsumerGroup, step: ResetStep) -> None:
    assert before(an_applied(group, step=step, outcome=None)) == {0: 60}


@pytest.mark.parametrize("before_it", [0, 60])
def test_a_queue_goes_to_the_offset_from_before(group: ConsumerGroup, before_it: int) -> None:
    assert before(an_applied(group, before=before_it)) == {0: before_it}


@pytest.mark.parametrize("step", [ResetStep.PLANNED, ResetStep.FAILED, ResetStep.NOT_DONE])
def test_a_queue_that_was_not_changed_is_none_of_it(group: ConsumerGroup, step: ResetStep) -> None:
    reset = an_applied(group)
    a_reset_queue(reset, 1, step=step)
    assert before(reset) == {0: 60}


def test_what_stood_there_already_and_what_was_left_out_is_none_of_it(group: ConsumerGroup) -> None:
    reset = an_applied(group)
    a_reset_queue(reset, 1, method=ResetMethod.NOTHING, **BACK)
    a_queue_left_out(reset, 2)
    assert before(reset) == {0: 60}


@pytest.mark.parametrize(
    ("queue", "why"),
    [
        ({"before": None}, stored_reason(PlanReason.NO_COMMIT_TO_RESTORE)),
        ({"before": None, "unknown": {"before": "broker-a was silent"}}, "broker-a was silent"),
        ({"outcome": ResetOutcome.UNCHANGED}, stored_reason(PlanReason.STAYED)),
    ],
)
def test_a_queue_that_cannot_go_back_has_the_reason(group: ConsumerGroup, queue: dict[str, Any], why: str) -> None:
    assert before(an_applied(group, **queue)) == {0: why}


@pytest.mark.parametrize("outcome", [ResetOutcome.OVERWRITTEN, ResetOutcome.UNKNOWN])
def test_a_queue_that_ended_elsewhere_goes_back_too(group: ConsumerGroup, outcome: ResetOutcome) -> None:
    assert before(an_applied(group, outcome=outcome)) == {0: 60}


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (ResetStatus.APPLYING, "being applied"),
        (ResetStatus.PLANNED, "this one is planned"),
        (ResetStatus.EXPIRED, "this one is expired"),
        (ResetStatus.CANCELLED, "this one is cancelled"),
        (ResetStatus.REFUSED, "this one is refused"),
    ],
)
def test_a_reset_that_has_not_ended_is_not_restored(
    group: ConsumerGroup, asker: Asker, status: ResetStatus, why: str
) -> None:
    with pytest.raises(ResetRefused, match=why):
        restore(an_applied(group, status), asker, "why not", NOW)


def test_one_that_changed_nothing_is_not_restored(group: ConsumerGroup, asker: Asker) -> None:
    with pytest.raises(ResetRefused, match="changed no queue"):
        restore(an_applied(group, ResetStatus.FAILED, step=ResetStep.NOT_DONE), asker, "why not", NOW)


def test_one_whose_queues_had_no_commit_is_not_restored(group: ConsumerGroup, asker: Asker) -> None:
    with pytest.raises(ResetRefused, match="None of its queues had a committed offset before"):
        restore(an_applied(group, before=None), asker, "why not", NOW)


def test_one_of_a_group_that_is_gone_is_not_restored(group: ConsumerGroup, asker: Asker) -> None:
    reset = an_applied(group)
    group.delete()
    reset.refresh_from_db()
    with pytest.raises(ResetRefused, match="billing no longer exists"):
        restore(reset, asker, "why not", NOW)


def test_a_viewer_restores_nothing(group: ConsumerGroup, asker: Asker) -> None:
    asker.user.groups.set([Group.objects.get(name="viewer")])
    user = User.objects.get(pk=asker.user.pk)
    against = why_not_restored(an_applied(group), user)
    assert against is not None
    assert "operator" in against


def test_it_waits_for_another_reset_of_the_group(group: ConsumerGroup, asker: Asker) -> None:
    reset = an_applied(group)
    a_reset(group, status=ResetStatus.APPLYING)
    with pytest.raises(ResetRefused, match="Another reset"):
        restore(reset, asker, "why not", NOW)


def test_a_plan_of_a_reset_that_changed_nothing_is_refused(group: ConsumerGroup) -> None:
    reset = a_reset(group)
    with pytest.raises(ResetRefused, match="changed no queue"):
        before(reset)


def test_other_resets_do_not_count(group: ConsumerGroup) -> None:
    reset = an_applied(group)
    a_reset_queue(a_reset(group), 5, **BACK)
    assert offsets_before(Reset(value=str(reset.pk))) == {QueueKey("Orders", "broker-a", 0): 60}
