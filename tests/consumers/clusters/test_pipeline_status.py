"""How fresh what was judged is."""

import pytest

from consumers.clusters.pipeline_runs import late_evaluation, pipeline_status
from consumers.models import Cluster, PipelineRun
from consumers.queries.limits import Freshness
from tests.world import NOW, a_cluster, ago

pytestmark = pytest.mark.django_db


def a_run(seconds: float, *, error: str | None = None, running: bool = False):
    PipelineRun.objects.create(
        since=ago(seconds + 60),
        until=ago(seconds),
        started_at=ago(seconds),
        finished_at=None if running else ago(seconds - 3),
        error=error,
    )


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], Freshness.SILENT),
        ([(20, None)], Freshness.FRESH),
        ([(50, None), (20, "Spark died")], Freshness.LATE),
        ([(120, None)], Freshness.LATE),
        ([(600, None)], Freshness.SILENT),
        ([(20, "Spark died")], Freshness.SILENT),
    ],
)
def test_it_tells_fresh_from_late_from_silent(runs, expected):
    for seconds, error in runs:
        a_run(seconds, error=error)
    assert pipeline_status(NOW).freshness == expected


def test_it_counts_runs_that_failed_and_that_were_missed():
    for seconds, error in ((150, None), (120, "Spark died"), (30, None), (5, None)):
        a_run(seconds, error=error)

    status = pipeline_status(NOW)

    assert (status.failed_runs, status.missed_runs, status.judged_until) == (1, 2, ago(5))


def test_without_a_single_run_every_run_since_a_cluster_was_registered_was_missed():
    a_cluster()
    assert pipeline_status(NOW).missed_runs == 119


def test_it_does_not_take_a_run_that_is_under_way_for_a_judgement():
    a_run(200)
    a_run(10, running=True)

    status = pipeline_status(NOW)

    assert (status.judged_until, status.last_run.finished_at) == (ago(200), None)


def test_it_says_that_no_run_has_finished():
    status = pipeline_status(NOW)
    assert (status.judged_until, status.unknown["judged_until"]) == (None, "no run of the pipeline has finished yet")


@pytest.mark.parametrize(
    ("runs", "since", "cause"),
    [
        ([{"seconds": 269}], None, None),
        ([{"seconds": 271}], 271, "No run was started for 4 min 31 s."),
        ([{"seconds": 900}, {"seconds": 20, "error": "The disk is full."}], 900, "The disk is full."),
        ([{"seconds": 900}, {"seconds": 420, "running": True}], 900, "A run has been going on for 7 min."),
        (
            [{"seconds": 900}, {"seconds": 700, "running": True}],
            900,
            "A run was started 11 min ago and never ended",
        ),
        ([{"seconds": 20, "error": "The disk is full."}], 0, "The disk is full."),
        ([], 0, "No run was ever started."),
    ],
)
def test_it_says_since_when_evaluation_is_late_and_why(runs, since, cause):
    a_cluster()
    for run in runs:
        a_run(**run)
    found = late_evaluation(NOW)
    if cause is None:
        assert found is None
        return
    assert found.since == (ago(since) if since else None)
    assert found.cause.startswith(cause)


def test_nothing_is_late_where_there_is_nothing_to_evaluate_yet():
    assert late_evaluation(NOW) is None
    Cluster.objects.create(name="young", namesrv="127.0.0.1:9876", created_at=ago(60))
    assert late_evaluation(NOW) is None
