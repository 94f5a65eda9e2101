"""Letting a plan be applied, and everything that speaks against it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from consumers.jobs.hold import left_behind
from consumers.models import ConsumerGroup, Reset, ResetStatus
from consumers.resets.acts import apply
from consumers.resets.target_values import Asker, ResetRefused
from consumers.words.reasons import stored_words
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue
from tests.world import NOW, a_cluster, a_group, ago


def asker(name: str, *, role: str | None = "operator") -> Asker:
    user = User.objects.create_user(name)
    if role is not None:
        user.groups.add(Group.objects.get(name=role))
    return Asker(user, "10.1.2.3", "page")


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.fixture
def ann(db: None) -> Asker:
    return asker("ann")


def planned(group: ConsumerGroup, **fields: Any) -> Reset:
    reset = a_reset(group, **fields)
    a_reset_queue(reset)
    return reset


def test_it_is_applied_from_then_on_and_says_who_let_it(billing: ConsumerGroup, ann: Asker) -> None:
    reset = planned(billing)
    apply(reset, ann, "billing", NOW)
    reset.refresh_from_db()
    assert (reset.status, reset.started_at, reset.working_at) == (ResetStatus.APPLYING, NOW, None)
    assert (reset.applied_by, reset.applied_by_name) == (ann.user, "ann")
    event = reset.events.get()
    assert (event.by_name, event.address, event.via, stored_words(event.sentence)) == (
        "ann",
        "10.1.2.3",
        "page",
        "Applied the plan.",
    )


def _expired(group: ConsumerGroup) -> Reset:
    return planned(group, expires_at=NOW)


def _beside_another(group: ConsumerGroup) -> Reset:
    a_reset(group, status=ResetStatus.APPLYING)
    return planned(group)


def _beside_others(group: ConsumerGroup) -> Reset:
    for name in ("audit", "shipping"):
        a_reset(a_group(group.cluster, name), status=ResetStatus.APPLYING)
    return planned(group)


def _ended(group: ConsumerGroup) -> Reset:
    return planned(group, status=ResetStatus.PARTIAL)


def _of_left_out_queues(group: ConsumerGroup) -> Reset:
    reset = a_reset(group)
    a_queue_left_out(reset, 0)
    return reset


def _of_a_group_that_is_gone(group: ConsumerGroup) -> Reset:
    reset = planned(group)
    group.delete()
    return reset


@pytest.mark.parametrize(
    ("made", "confirm", "words"),
    [
        (planned, "Billing", "Type the group's name, billing"),
        (planned, "", "Type the group's name, billing"),
        (planned, "billing ", "Type the group's name, billing"),
        (_expired, "billing", "has expired"),
        (_beside_another, "billing", "Another reset of this group"),
        (_beside_others, "billing", "2 resets are being applied"),
        (_ended, "billing", "this reset is partial"),
        (_of_left_out_queues, "billing", "No queue would move"),
        (_of_a_group_that_is_gone, "billing", "no longer exists"),
    ],
)
def test_it_is_not_applied(
    billing: ConsumerGroup, ann: Asker, made: Callable[[ConsumerGroup], Reset], confirm: str, words: str
) -> None:
    reset = made(billing)
    before = reset.status
    with pytest.raises(ResetRefused, match=words):
        apply(reset, ann, confirm, NOW)
    reset.refresh_from_db()
    assert (reset.status, reset.events.count()) == (before, 0)


@pytest.mark.parametrize("role", [None, "viewer"])
def test_somebody_without_the_permission_does_not_apply_it(billing: ConsumerGroup, role: str | None) -> None:
    reset = planned(billing)
    with pytest.raises(ResetRefused, match="You need the role operator or admin"):
        apply(reset, asker("eve", role=role), "billing", NOW)
    reset.refresh_from_db()
    assert reset.status == ResetStatus.PLANNED


def test_on_a_read_only_cluster_nobody_applies_it(billing: ConsumerGroup, ann: Asker, settings: Any) -> None:
    reset = planned(billing)
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    with pytest.raises(ResetRefused, match="prod is marked read-only"):
        apply(reset, ann, "billing", NOW)


@pytest.mark.parametrize("is_known", [True, False])
def test_where_two_persons_are_wanted_its_planner_does_not_apply_it(
    billing: ConsumerGroup, ann: Asker, settings: Any, is_known: bool
) -> None:
    settings.CONSUMERSCOPE_RESET_SECOND_PERSON = True
    reset = planned(billing, by=ann.user if is_known else None, by_name="ann")
    with pytest.raises(ResetRefused, match="another person has to apply"):
        apply(reset, ann, "billing", NOW)
    apply(reset, asker("bob"), "billing", NOW)
    assert reset.applied_by_name == "bob"


def test_where_one_person_is_enough_its_planner_applies_it(billing: ConsumerGroup, ann: Asker) -> None:
    reset = planned(billing, by=ann.user, by_name="ann")
    apply(reset, ann, "billing", NOW)
    assert reset.status == ResetStatus.APPLYING


def test_a_plan_that_was_applied_meanwhile_is_not_applied_again(billing: ConsumerGroup, ann: Asker) -> None:
    reset = planned(billing)
    seen_earlier = Reset.objects.get(pk=reset.pk)
    apply(reset, ann, "billing", NOW)
    with pytest.raises(ResetRefused, match="this reset is applying"):
        apply(seen_earlier, asker("bob"), "billing", NOW)


@pytest.mark.parametrize(
    ("status", "started", "working", "is_left"),
    [
        (ResetStatus.APPLYING, 100, 31, True),
        (ResetStatus.APPLYING, 100, 29, False),
        (ResetStatus.APPLYING, 31, None, True),
        (ResetStatus.APPLYING, 5, None, False),
        (ResetStatus.APPLIED, 100, 31, False),
        (ResetStatus.PLANNED, None, None, False),
    ],
)
def test_what_no_living_worker_has_is_taken_up(
    billing: ConsumerGroup, status: ResetStatus, started: int | None, working: int | None, is_left: bool
) -> None:
    times = {"started_at": started, "working_at": working}
    reset = a_reset(billing, status=status, **{name: None if age is None else ago(age) for name, age in times.items()})
    assert left_behind(Reset, ResetStatus.APPLYING, NOW) == ([reset.pk] if is_left else [])
