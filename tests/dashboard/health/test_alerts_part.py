"""What /readyz says of alerts."""

from typing import Any

import pytest

from consumers.models import Cluster
from dashboard.health import Part, readiness
from tests.alert_rows import a_channel, a_delivery, an_evaluation
from tests.world import NOW, a_cluster, ago

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _every_fifteen_seconds(settings: Any) -> None:
    settings.ALERT_SECONDS = 15
    settings.REDIS_URL = "unix:///nowhere/redis.sock"


@pytest.fixture(autouse=True)
def _a_cluster(db: None) -> Cluster:
    return a_cluster()


def part() -> Part:
    return readiness(NOW).parts["alerts"]


def test_it_tells_how_old_the_evaluation_is() -> None:
    an_evaluation(ago(20))
    assert part() == Part(True, "evaluated as often as it should be", 20)


def test_it_is_not_well_where_nothing_was_evaluated_for_too_long() -> None:
    an_evaluation(ago(46))
    said = "alert rules have not been evaluated for too long: see that a worker of the queue alerts runs"
    assert part() == Part(False, said, 46)


@pytest.mark.parametrize(("seconds", "well"), [(60, True), (61, False)])
def test_an_evaluation_of_a_moment_to_come_is_a_fault_where_it_keeps_others_away(seconds: float, well: bool) -> None:
    an_evaluation(ago(-seconds))
    assert (part().well, part().age_seconds) == (well, 0)


def test_an_evaluation_that_never_came_is_a_fault_once_it_should_have() -> None:
    assert not part().well
    Cluster.objects.update(created_at=ago(60))
    assert part() == Part(True, "alert rules have not been evaluated yet")


def test_it_tells_why_the_newest_try_failed() -> None:
    an_evaluation(ago(20), error="OperationalError: the disk is full", error_at=ago(5))
    seen = part()
    assert seen.well
    assert seen.detail == "the newest evaluation of alert rules failed: OperationalError: the disk is full"


def test_it_tells_which_channel_takes_no_messages_and_stays_well() -> None:
    an_evaluation(ago(20))
    a_channel("calm")
    channel = a_channel()
    for seconds in (400, 10):
        a_delivery(channel, status="waiting", created_at=ago(seconds))
    seen = part()
    assert seen.well
    assert seen.detail.endswith("; messages wait: on call: 2 since 2026-03-14 02:53 UTC")


def test_messages_that_wait_for_a_moment_are_no_news() -> None:
    an_evaluation(ago(20))
    a_delivery(a_channel(), status="waiting", created_at=ago(299))
    assert part().detail == "evaluated as often as it should be"


@pytest.mark.parametrize(("seconds", "is_told"), [(300, False), (301, True)])
def test_a_channel_through_which_nothing_is_taken_is_told_also_where_all_was_given_up(
    seconds: float, is_told: bool
) -> None:
    an_evaluation(ago(20))
    a_channel(failing_since=ago(seconds), failures=9, failing_why="404 Not Found")
    seen = part()
    assert seen.well
    assert seen.detail.endswith("; nothing is taken through: on call") is is_told
