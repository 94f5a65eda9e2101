"""Groups that are not known for a while after something else was the cause: it counts no time before that was over."""

from datetime import timedelta

import pytest

from consumers.models import Cluster, Measure, PipelineRun, Reading
from tests.consumers.alerts.measures.group_rows import a_behind_group, of_group
from tests.world import NOW, a_broker, a_cluster, a_reading, ago

pytestmark = pytest.mark.django_db
WELL, AWAY = ("broker-a", True), ("broker-a", False)


@pytest.fixture
def cluster() -> Cluster:
    """Read and judged for hours, until a minute ago; its group is UNKNOWN for ten minutes."""
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    a_behind_group(cluster, state="UNKNOWN", rule="too_few_readings", since=ago(600))
    for seconds in range(7200, 60, -60):
        _run(until=seconds, finished=seconds - 30)
    _run(until=60, finished=30)
    return cluster


def _run(*, until: float, finished: float) -> None:
    PipelineRun.objects.create(
        since=ago(until + 60), until=ago(until), started_at=ago(until), finished_at=ago(finished)
    )


def _readings(
    cluster: Cluster, first: float, last: float, *brokers: tuple[str, bool], error: str | None = None
) -> None:
    """One every 15 s, `first` seconds ago and so on."""
    told = [{"name": name, "read": read, "error": None if read else "timed out"} for name, read in brokers]
    for place in range(int((first - last) // 15) + 1):
        a_reading(cluster, ago(first - 15 * place), brokers=told, error=error)


def test_it_counts_for_as_long_as_everything_was_read_and_judged(cluster: Cluster) -> None:
    _readings(cluster, 7200, 0, WELL)
    assert of_group(Measure.UNKNOWN)[0] == 600.0


def test_it_counts_no_time_before_its_broker_was_read_again(cluster: Cluster) -> None:
    _readings(cluster, 3600, 615, WELL)
    _readings(cluster, 600, 45, AWAY)
    _readings(cluster, 30, 0, WELL)
    assert of_group(Measure.UNKNOWN)[0] == 30.0


def test_it_is_not_known_at_the_moment_at_which_it_begins_to_count(cluster: Cluster) -> None:
    _readings(cluster, 3600, 15, AWAY)
    _readings(cluster, 0, 0, WELL)
    assert of_group(Measure.UNKNOWN) == (0.0, "state unknown for 0 s: too few scrapes to evaluate")


def test_it_counts_no_time_before_any_broker_was_known_again(cluster: Cluster) -> None:
    _readings(cluster, 3600, 615, WELL)
    _readings(cluster, 600, 45, error="no name server answers")
    _readings(cluster, 30, 0, WELL)
    assert of_group(Measure.UNKNOWN)[0] == 30.0


@pytest.mark.parametrize("away", [300, 3600])
def test_it_counts_no_time_before_its_cluster_was_polled_again(cluster: Cluster, away: int) -> None:
    _readings(cluster, 7200, away, WELL)
    _readings(cluster, 30, 0, WELL)
    assert of_group(Measure.UNKNOWN)[0] == 30.0


def test_a_broker_that_is_asked_no_more_explains_nothing_any_more(cluster: Cluster) -> None:
    both = (WELL, ("broker-b", False))
    _readings(cluster, 7200, 45, *both)
    _readings(cluster, 30, 0, WELL)
    assert of_group(Measure.UNKNOWN)[0] == 30.0


def test_a_broker_that_has_just_been_lost_changes_nothing(cluster: Cluster) -> None:
    _readings(cluster, 7200, 45, WELL, ("broker-b", True))
    _readings(cluster, 30, 0, WELL, ("broker-b", False))
    assert of_group(Measure.UNKNOWN)[0] == 600.0


@pytest.mark.parametrize("away", [900, 3600])
def test_it_counts_no_time_before_the_site_was_judged_again(cluster: Cluster, away: int) -> None:
    _readings(cluster, 7200, 0, WELL)
    PipelineRun.objects.filter(until__gt=ago(away), until__lt=ago(60)).delete()
    assert of_group(Measure.UNKNOWN)[0] == 30.0


def test_the_first_judgement_of_a_site_is_one_that_came_again(cluster: Cluster) -> None:
    _readings(cluster, 7200, 0, WELL)
    PipelineRun.objects.filter(until__lt=ago(60)).delete()
    assert of_group(Measure.UNKNOWN)[0] == 30.0


def test_a_judgement_that_failed_ends_nothing(cluster: Cluster) -> None:
    _readings(cluster, 7200, 0, WELL)
    PipelineRun.objects.filter(until__gt=ago(900), until__lt=ago(60)).update(error="out of memory")
    assert of_group(Measure.UNKNOWN)[0] == 30.0


def test_another_cluster_that_is_read_again_is_of_no_concern(cluster: Cluster) -> None:
    _readings(cluster, 7200, 0, WELL)
    other = a_cluster("test", read_at=None)
    a_reading(other, NOW - timedelta(hours=1))
    a_reading(other, ago(5))
    assert Reading.objects.filter(cluster=other).count() == 2
    assert of_group(Measure.UNKNOWN)[0] == 600.0


@pytest.mark.parametrize(("read_again", "counted"), [(45, 30.0), (15, 15.0)])
def test_it_counts_once_it_is_both_read_and_judged_again(cluster: Cluster, read_again: int, counted: float) -> None:
    PipelineRun.objects.filter(until__lt=ago(60)).delete()
    _readings(cluster, 7200, read_again + 15, AWAY)
    _readings(cluster, read_again, 0, WELL)
    assert of_group(Measure.UNKNOWN)[0] == counted
