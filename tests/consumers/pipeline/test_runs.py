"""Which range is due, and what is kept of a run."""

from datetime import timedelta

import pytest

from consumers.models import GroupWindow, PipelineRun, Reading
from consumers.pipeline.durations import Durations
from consumers.pipeline.runs import due_range, sentence
from consumers.pipeline.slices import slices
from consumers.pipeline.upkeep import kept_for, prune_rows
from tests.world import NOW, a_cluster, a_group, a_reading, ago

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def a_run(until, error=None, finished=True):
    since = until - MINUTE
    return PipelineRun.objects.create(
        since=since, until=until, started_at=until, finished_at=until if finished else None, error=error
    )


@pytest.mark.django_db
def test_the_first_run_covers_ten_minutes():
    assert due_range(NOW, Durations()) == (NOW - 10 * MINUTE, NOW)


@pytest.mark.django_db
def test_a_run_begins_two_polls_before_the_end_of_the_last():
    a_run(ago(60))
    assert due_range(NOW, Durations()) == (ago(90), NOW)


@pytest.mark.django_db
def test_runs_that_failed_or_still_run_do_not_count():
    a_run(ago(120))
    a_run(ago(60), error="Spark ran out of memory.")
    a_run(ago(30), finished=False)
    assert due_range(NOW, Durations())[0] == ago(150)


@pytest.mark.django_db
def test_after_a_long_pause_it_covers_an_hour():
    a_run(ago(86400))
    assert due_range(NOW, Durations())[0] == NOW - HOUR


def test_a_long_range_is_cut_at_whole_ten_minutes():
    since, until = NOW + timedelta(minutes=7, seconds=20), NOW + 21 * MINUTE
    assert list(slices(since, until)) == [
        (NOW + 7 * MINUTE, NOW + 10 * MINUTE),
        (NOW + 10 * MINUTE, NOW + 20 * MINUTE),
        (NOW + 20 * MINUTE, until),
    ]


def test_an_error_is_one_sentence():
    assert sentence(ValueError("The lake is gone.\n  at org.apache…")) == "ValueError: The lake is gone."


@pytest.mark.django_db
def test_rows_go_with_the_files_that_they_stand_beside():
    cluster = a_cluster(read_at=ago(60))
    a_reading(cluster, ago(49 * 3600))
    a_run(ago(8 * 86400))
    a_run(ago(86400))
    group = a_group(cluster)
    for step, days in ((60, 6), (60, 8), (600, 8), (600, 91), (3600, 91)):
        GroupWindow.objects.create(group=group, step_seconds=step, start=ago(days * 86400), readings=4)

    assert prune_rows(NOW, kept_for()) == 5
    assert Reading.objects.count() == 1
    assert PipelineRun.objects.get().until == ago(86400)
    assert sorted(GroupWindow.objects.values_list("step_seconds", flat=True)) == [60, 600]
