"""Starting, cancelling, expiring, and being taken up again."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from consumers.dead_letters.resend.preview import NotCancelled, NotStarted, cancel, expire, start
from consumers.jobs.hold import left_behind
from consumers.models import AuditEvent, ConsumerGroup, Resend, ResendOutcome, ResendStatus
from tests.consumers.dead_letters.resend.conftest import a_resend, an_item, outcomes
from tests.world import NOW, a_broker, a_cluster, a_group, ago

PLANNED, RUNNING = ResendStatus.PLANNED, ResendStatus.RUNNING


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_user("ann")


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


def planned(group: ConsumerGroup, **fields: object) -> Resend:
    resend = a_resend(group, **fields)  # type: ignore[arg-type]
    an_item(resend, 0)
    return resend


def test_a_started_one_runs_from_then_on(billing: ConsumerGroup, ann: User) -> None:
    resend = planned(billing)
    start(resend, ann, "billing", NOW)
    resend.refresh_from_db()
    assert (resend.status, resend.started_at) == (RUNNING, NOW)
    assert AuditEvent.objects.get().sentence == "Started the resend."


def _expired(group: ConsumerGroup) -> Resend:
    return planned(group, expires_at=NOW)


def _with_another(group: ConsumerGroup) -> Resend:
    a_resend(group, status=RUNNING)
    return planned(group)


def _with_others(group: ConsumerGroup) -> Resend:
    for name in ("audit", "shipping"):
        a_resend(a_group(group.cluster, name), status=RUNNING)
    return planned(group)


def _ended(group: ConsumerGroup) -> Resend:
    return planned(group, status=ResendStatus.DONE)


def _closed_since(group: ConsumerGroup) -> Resend:
    a_broker(group.cluster, permission=4, config_at=ago(5))
    return planned(group)


def _all_skipped(group: ConsumerGroup) -> Resend:
    resend = a_resend(group)
    an_item(resend, 0, ResendOutcome.SKIPPED)
    return resend


@pytest.mark.parametrize(
    ("made", "confirm", "words"),
    [
        (planned, "Billing", "Type the group's name"),
        (planned, "", "Type the group's name"),
        (_expired, "billing", "has expired"),
        (_with_another, "billing", "Another resend"),
        (_with_others, "billing", "2 resends are running"),
        (_ended, "billing", "it is done"),
        (_closed_since, "billing", "broker-a does not accept writes"),
        (_all_skipped, "billing", "None of its messages"),
    ],
)
def test_it_is_not_started(
    billing: ConsumerGroup, ann: User, made: Callable[[ConsumerGroup], Resend], confirm: str, words: str
) -> None:
    resend = made(billing)
    before = resend.status
    with pytest.raises(NotStarted, match=words):
        start(resend, ann, confirm, NOW)
    resend.refresh_from_db()
    assert resend.status == before


def test_on_a_read_only_cluster_it_is_not_started(billing: ConsumerGroup, ann: User, settings: Any) -> None:
    resend = planned(billing)
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    with pytest.raises(NotStarted, match="prod is marked read-only"):
        start(resend, ann, "billing", NOW)
    resend.refresh_from_db()
    assert resend.status == PLANNED


def test_a_cancelled_plan_ends_at_once(billing: ConsumerGroup, ann: User) -> None:
    resend = planned(billing)
    cancel(resend, ann, NOW)
    assert (resend.status, outcomes(resend)) == (ResendStatus.CANCELLED, [ResendOutcome.CANCELLED])


def test_a_running_one_is_asked_to_end(billing: ConsumerGroup, ann: User) -> None:
    resend = planned(billing, status=RUNNING)
    cancel(resend, ann, NOW)
    assert (resend.status, resend.cancel_wanted, outcomes(resend)) == (RUNNING, True, [ResendOutcome.PLANNED])


def test_one_that_has_ended_is_not_cancelled(billing: ConsumerGroup, ann: User) -> None:
    with pytest.raises(NotCancelled, match="ended"):
        cancel(planned(billing, status=ResendStatus.DONE), ann, NOW)


def test_plans_expire(billing: ConsumerGroup) -> None:
    old, young = planned(billing, expires_at=NOW), planned(billing, expires_at=NOW + timedelta(seconds=1))
    assert expire(NOW) == 1
    old.refresh_from_db()
    young.refresh_from_db()
    assert (old.status, young.status) == (ResendStatus.EXPIRED, PLANNED)


@pytest.mark.parametrize(
    ("status", "started", "working", "is_left"),
    [
        (RUNNING, 100, 31, True),
        (RUNNING, 100, 29, False),
        (RUNNING, 31, None, True),
        (RUNNING, 5, None, False),
        (ResendStatus.DONE, 100, 31, False),
        (PLANNED, None, None, False),
    ],
)
def test_what_no_living_worker_has_is_taken_up(
    billing: ConsumerGroup, status: ResendStatus, started: int | None, working: int | None, is_left: bool
) -> None:
    times = {"started_at": started, "working_at": working}
    resend = planned(billing, status=status, **{name: None if age is None else ago(age) for name, age in times.items()})
    assert left_behind(Resend, ResendStatus.RUNNING, NOW) == ([resend.pk] if is_left else [])
