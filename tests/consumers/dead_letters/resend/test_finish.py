"""How a re-send is said to have gone."""

import pytest

from consumers.dead_letters.resend.run import abandon, finish, status_of
from consumers.jobs.hold import Hold
from consumers.models import Resend, ResendOutcome, ResendStatus
from consumers.vocabulary.reasons import ResendCause, stored_reason
from tests.consumers.dead_letters.resend.conftest import a_resend, an_item, outcomes
from tests.dying import dies_at
from tests.world import NOW, a_cluster, a_group, ago

SENT, FAILED, UNKNOWN = ResendOutcome.SENT, ResendOutcome.FAILED, ResendOutcome.UNKNOWN
SKIPPED, CANCELLED, PLANNED = ResendOutcome.SKIPPED, ResendOutcome.CANCELLED, ResendOutcome.PLANNED


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ({SENT: 3}, ResendStatus.DONE),
        ({SENT: 3, FAILED: 1}, ResendStatus.PARTIAL),
        ({SENT: 3, SKIPPED: 1}, ResendStatus.PARTIAL),
        ({SENT: 3, UNKNOWN: 1}, ResendStatus.PARTIAL),
        ({UNKNOWN: 1}, ResendStatus.PARTIAL),
        ({FAILED: 2, SKIPPED: 1}, ResendStatus.FAILED),
        ({}, ResendStatus.FAILED),
    ],
)
def test_by_what_became_of_its_messages(counts: dict[str, int], status: ResendStatus) -> None:
    assert status_of(counts) == status


@pytest.fixture
def running(db: None) -> Resend:
    return a_resend(a_group(a_cluster()), status=ResendStatus.RUNNING)


def test_what_the_plan_left_out_does_not_count(running: Resend) -> None:
    an_item(running, 1, SKIPPED)
    an_item(running, 2, SENT, at=ago(1))
    finish(Hold.take(Resend, running.pk, ResendStatus.RUNNING, NOW), None, NOW)
    running.refresh_from_db()
    assert (running.status, running.finished_at, running.error) == (ResendStatus.DONE, NOW, None)


def test_what_is_left_when_it_stops_is_cancelled_with_the_reason(running: Resend) -> None:
    an_item(running, 1, SENT, at=ago(1))
    an_item(running, 2, PLANNED)
    finish(Hold.take(Resend, running.pk, ResendStatus.RUNNING, NOW), "Stopped.", NOW)
    running.refresh_from_db()
    assert (running.status, running.error) == (ResendStatus.PARTIAL, "Stopped.")
    assert running.items.get(outcome=CANCELLED).error == "Stopped."


def test_without_a_way_to_its_cluster_nobody_knows_of_what_was_under_way(running: Resend) -> None:
    an_item(running, 1, ResendOutcome.SENDING, at=ago(40))
    an_item(running, 2, PLANNED)
    abandon(Hold.take(Resend, running.pk, ResendStatus.RUNNING, NOW), "The secret is gone.", NOW)
    running.refresh_from_db()
    assert (running.status, outcomes(running)) == (ResendStatus.PARTIAL, [UNKNOWN, CANCELLED])
    assert running.items.first().error == stored_reason(ResendCause.MAYBE_SENT, why="The secret is gone.")


def test_a_worker_that_dies_while_it_ends_a_resend_leaves_it_as_it_was(running: Resend) -> None:
    an_item(running, 1, ResendOutcome.SENDING, at=ago(40))
    with dies_at('"finished_at" ='):
        abandon(Hold.take(Resend, running.pk, ResendStatus.RUNNING, NOW), "The secret is gone.", NOW)
    running.refresh_from_db()
    assert (running.status, outcomes(running)) == (ResendStatus.RUNNING, [ResendOutcome.SENDING])
