"""Volumes of a group: every window is there, what is not known is null, and no sum hides a hole."""

from datetime import timedelta

import pytest

from consumers.models import ConsumerGroup, GroupWindow, PipelineRun
from consumers.queries.windows import RangeError
from consumers.retries.volumes import volumes_of
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
GAP = "no scrape close enough before this window"


@pytest.fixture
def group():
    return a_group(a_cluster())


def a_run(until):
    PipelineRun.objects.create(since=ago(3600), until=until, started_at=ago(60), finished_at=ago(50))


def a_window(group, minutes_ago, into=1, out=1, dead=0, consumed=10, **fields):
    values = {"step_seconds": 60, "readings": 4} | fields
    volumes = {"into_retry": into, "out_of_retry": out, "into_dlq": dead, "consumed": consumed}
    GroupWindow.objects.create(group=group, start=NOW - minutes_ago * MINUTE, **values, **volumes)


def the_volumes(minutes=3, step=None, now=NOW):
    return volumes_of("prod", "billing", NOW - minutes * MINUTE, NOW, now, step)


def test_it_sums_the_windows_that_are_known(group):
    a_run(NOW)
    for minutes_ago in (3, 2, 1):
        a_window(group, minutes_ago, into=minutes_ago, out=2, dead=1, consumed=100)
    totals = the_volumes().totals
    assert (totals.into_retry, totals.out_of_retry, totals.into_dlq, totals.consumed) == (6, 6, 3, 300)
    assert (totals.since, totals.until, totals.unknown) == (NOW - 3 * MINUTE, NOW, {})


def test_a_missing_window_is_there_and_makes_the_totals_unknown(group):
    a_run(NOW)
    a_window(group, 3, into=4)
    a_window(group, 1, into=5)
    found = the_volumes()
    assert [window.into_retry for window in found.windows] == [4, None, 5]
    assert found.windows[1].unknown["into_retry"] == "no poll in this window"
    assert (found.totals.into_retry, found.totals.at_least["into_retry"]) == (None, 9)
    assert found.totals.unknown["into_retry"] == "1 of 3 windows are unknown: no poll in this window"


def test_one_unknown_number_leaves_the_others_known(group):
    a_run(NOW)
    a_window(group, 2)
    a_window(group, 1, into=None, volumes_unknown={"into_retry": "no_reading_before"})
    totals = the_volumes(2).totals
    assert (totals.into_retry, totals.consumed) == (None, 20)
    assert totals.unknown == {"into_retry": f"1 of 2 windows are unknown: {GAP}"}


def test_a_window_from_before_volumes_were_recorded_says_so(group):
    a_run(NOW)
    a_window(group, 1, into=None, out=None, dead=None, consumed=None)
    [window] = the_volumes(1).windows
    assert window.unknown == dict.fromkeys(("into_retry", "out_of_retry", "into_dlq", "consumed"), "not recorded then")


def test_what_is_not_aggregated_yet_makes_no_total_unknown(group):
    a_run(NOW - MINUTE)
    a_window(group, 3)
    a_window(group, 2)
    found = the_volumes()
    assert found.windows[2].unknown["consumed"] == "not aggregated yet"
    assert (found.totals.consumed, found.totals.until) == (20, NOW - MINUTE)


def test_a_pipeline_that_stopped_makes_the_totals_unknown(group):
    a_run(NOW - 2 * MINUTE)
    a_window(group, 3)
    totals = the_volumes(now=NOW + 60 * MINUTE).totals
    assert (totals.consumed, totals.at_least["consumed"]) == (None, 10)
    assert totals.unknown["consumed"] == "not evaluated since 2026-03-14 02:58:00 UTC"


def test_without_any_run_nothing_is_known(group):
    totals = the_volumes().totals
    assert (totals.into_dlq, totals.at_least["into_dlq"]) == (None, None)
    assert totals.unknown["into_dlq"] == "no run of the pipeline has finished yet"


def test_the_window_that_is_not_over_is_the_sum_of_its_minutes(group):
    a_run(NOW + 3 * MINUTE)
    for minutes in range(3):
        a_window(group, -minutes, into=2)
    a_window(group, 10, into=7, step_seconds=600)
    found = volumes_of("prod", "billing", NOW - 10 * MINUTE, NOW + MINUTE, NOW + 3 * MINUTE, 600)
    assert [(window.into_retry, window.is_open) for window in found.windows] == [(7, False), (6, True)]
    assert found.totals.into_retry == 13


@pytest.mark.parametrize(("minutes", "told"), [((0, 2), "a minute has no scrape, or is not over"), ((0, 1, 2), GAP)])
def test_the_window_that_is_not_over_is_unknown_with_a_minute_of_it(group, minutes, told):
    a_run(NOW + 3 * MINUTE)
    for minute in minutes:
        into, why = (None, {"into_retry": GAP}) if told == GAP and minute == 1 else (2, {})
        a_window(group, -minute, into=into, volumes_unknown=why)
    [window] = volumes_of("prod", "billing", NOW, NOW + MINUTE, NOW + 3 * MINUTE, 600).windows
    assert (window.into_retry, window.unknown["into_retry"]) == (None, told)


def test_it_refuses_what_it_cannot_show(group):
    with pytest.raises(RangeError, match="empty"):
        volumes_of("prod", "billing", NOW, NOW, NOW)
    with pytest.raises(ConsumerGroup.DoesNotExist):
        volumes_of("prod", "nobody", NOW - MINUTE, NOW, NOW)
