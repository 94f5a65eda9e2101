"""Which range is due, and what is kept of a run."""

from datetime import timedelta

import pytest

from consumers.lake.schemas import TABLES
from consumers.models import (
    Assignment,
    Client,
    ClientSubscription,
    GroupWindow,
    MembershipGap,
    PipelineRun,
    Reading,
    Rebalance,
    RebalanceTopic,
)
from consumers.pipeline import runs
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import Report
from consumers.pipeline.runs import due_range, is_nothing_new, record_skip, recorded_run
from consumers.pipeline.slices import slices
from consumers.pipeline.upkeep import prune_rows, retentions
from tests.world import NOW, a_cluster, a_group, a_queue, a_reading, ago

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def a_run(until, error=None, finished=True, newest_reading=None):
    since = until - MINUTE
    times = {"since": since, "until": until, "started_at": until, "finished_at": until if finished else None}
    return PipelineRun.objects.create(**times, error=error, newest_reading=newest_reading)


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


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("late", "since", "why"),
    [
        (None, ago(60), "every reading was seen: minutes that are over are not made again"),
        (ago(65), ago(65), "a reading was written after the last run began"),
        (ago(200), ago(200), "it came late"),
        (ago(20), ago(60), "it is newer"),
    ],
)
def test_a_run_begins_with_the_first_reading_that_the_last_one_did_not_know(late, since, why):
    cluster = a_cluster(read_at=None)
    known = a_reading(cluster, ago(75))
    a_run(ago(60), newest_reading=known.pk)
    if late is not None:
        a_reading(cluster, late)
    assert due_range(NOW, Durations()) == (since, NOW), why


@pytest.mark.django_db
@pytest.mark.parametrize(("taken_at", "since"), [(ago(65), ago(65)), (ago(95), ago(60))])
def test_a_reading_of_another_cluster_may_have_a_lower_key_and_be_seen_later(taken_at, since):
    """For as long as recording may take."""
    later_seen = a_reading(a_cluster("other", read_at=None), taken_at)
    known = a_reading(a_cluster(read_at=None), ago(55))
    assert later_seen.pk < known.pk
    a_run(ago(60), newest_reading=known.pk)
    assert due_range(NOW, Durations()) == (since, NOW)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("clusters", "since", "next_since", "why"),
    [
        (["prod", "test"], ago(310), NOW, "it saw them all"),
        (["prod"], ago(310), ago(200), "those of another cluster are to be seen"),
        (["prod", "test"], ago(100), ago(200), "it was asked for a later range"),
    ],
)
def test_a_run_of_a_part_leaves_the_rest_to_the_next(monkeypatch, clusters, since, next_since, why):
    known = a_reading(a_cluster(read_at=None), ago(310))
    a_run(ago(300), newest_reading=known.pk)
    a_reading(a_cluster("test", read_at=None), ago(200))
    monkeypatch.setattr(runs, "run", lambda *_: Report(clusters, since, NOW))
    recorded_run(None, None, clusters, since, NOW, Durations(), NOW)
    assert due_range(NOW + MINUTE, Durations())[0] == next_since, why


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("read", "more", "expected", "why"),
    [
        (ago(30), None, True, "nothing came"),
        (ago(30), ago(15), False, "a reading came"),
        (ago(46), None, False, "nothing came for so long that it is not known any more"),
    ],
)
def test_a_run_is_skipped_while_there_is_no_new_reading(read, more, expected, why):
    cluster = a_cluster(read_at=None)
    a_run(ago(20), newest_reading=a_reading(cluster, read).pk)
    if more is not None:
        a_reading(cluster, more)
    assert is_nothing_new(NOW, Durations()) == expected, why


@pytest.mark.django_db
def test_the_run_after_a_skipped_one_begins_where_the_last_that_ran_ended():
    known = a_reading(a_cluster(read_at=None), ago(30))
    a_run(ago(20), newest_reading=known.pk)
    record_skip(ago(10))
    assert due_range(NOW, Durations()) == (ago(20), NOW)
    assert PipelineRun.objects.filter(skipped=True, until=ago(10), error=None).count() == 1


@pytest.mark.django_db
def test_without_a_run_or_a_reading_nothing_is_skipped():
    assert not is_nothing_new(NOW, Durations())


def test_a_long_range_is_cut_at_whole_ten_minutes():
    since, until = NOW + timedelta(minutes=7, seconds=20), NOW + 21 * MINUTE
    assert list(slices(since, until)) == [
        (NOW + 7 * MINUTE, NOW + 10 * MINUTE),
        (NOW + 10 * MINUTE, NOW + 20 * MINUTE),
        (NOW + 20 * MINUTE, until),
    ]


def test_every_table_of_the_lake_is_kept_for_a_time():
    assert retentions().keys() == TABLES.keys()


@pytest.mark.django_db
def test_rows_go_with_the_files_that_they_stand_beside():
    cluster = a_cluster(read_at=ago(60))
    a_reading(cluster, ago(49 * 3600))
    a_run(ago(8 * 86400))
    a_run(ago(86400))
    group = a_group(cluster)
    for step, days in ((60, 6), (60, 8), (600, 8), (600, 91), (3600, 91), (3600, 731), (86400, 731), (86400, 1826)):
        GroupWindow.objects.create(group=group, step_seconds=step, start=ago(days * 86400), readings=4)

    assert prune_rows(NOW, retentions()) == 6
    assert Reading.objects.count() == 1
    assert PipelineRun.objects.get().until == ago(86400)
    assert sorted(GroupWindow.objects.values_list("step_seconds", flat=True)) == [60, 600, 3600, 86400]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model", "more"),
    [
        (Client, {"address": "10.0.0.1:5000", "language": "JAVA"}),
        (Assignment, {}),
        (ClientSubscription, {"topic": "Orders", "expression": "*"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_intervals_go_90_days_after_their_end_and_what_lasts_is_kept(model, more):
    group = a_group(a_cluster())
    if model is Assignment:
        more = {"queue": a_queue(group.cluster)}
    for client_id, days in (("lasts", None), ("ended 89 days ago", 89), ("ended 91 days ago", 91)):
        gone_by = None if days is None else ago(days * 86400)
        times = {"seen_since": ago(200 * 86400), "last_seen": ago(95 * 86400), "gone_by": gone_by}
        model.objects.create(group=group, client_id=client_id, **times, **more)

    assert prune_rows(NOW, retentions()) == 1
    assert set(model.objects.values_list("client_id", flat=True)) == {"lasts", "ended 89 days ago"}


@pytest.mark.django_db
def test_times_when_members_were_not_reported_go_with_the_readings():
    group = a_group(a_cluster())
    for hours in (47, 49):
        at = ago(hours * 3600)
        MembershipGap.objects.create(group=group, began_at=at - HOUR, ended_at=at, is_listed=False)

    assert prune_rows(NOW, retentions()) == 1
    assert MembershipGap.objects.get().ended_at == ago(47 * 3600)


@pytest.mark.django_db
def test_rebalances_go_with_their_topics_after_90_days():
    group = a_group(a_cluster())
    for days in (89, 91):
        at = ago(days * 86400)
        values = {"started_before": at, "last_change_at": at, "episode_since": at, "judged_at": at, "polls": 2}
        RebalanceTopic.objects.create(rebalance=Rebalance.objects.create(group=group, **values), topic="Orders")

    assert prune_rows(NOW, retentions()) == 2
    assert RebalanceTopic.objects.get().rebalance.started_before == ago(89 * 86400)
