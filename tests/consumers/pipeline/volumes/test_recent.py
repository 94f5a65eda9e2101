"""The share that was retried in the last hour and what died in the last day; half an answer says which half."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from consumers.models import GroupWindow
from consumers.pipeline.volumes import recent_volumes, tiles
from consumers.words.reasons import volume_words
from tests.pipeline_rows import T0, at
from tests.world import a_cluster, a_group

MINUTE = timedelta(minutes=1)
REACH = timedelta(seconds=45)
# Not at a whole hour, nor at a whole ten minutes.
UNTIL = at(24 * 3600 + 13 * 60 + 20)


@given(minutes=st.integers(0, 3000), length=st.integers(1, 1500))
def test_tiles_cover_each_moment_once(minutes, length):
    start, end = T0 + minutes * MINUTE, T0 + (minutes + length) * MINUTE
    found = list(tiles(start, end))
    assert [found[0][1], *(last for _, _, last in found)] == [*(first for _, first, _ in found), end]
    assert found[0][1] == start
    assert all(first.timestamp() % step.total_seconds() == 0 for step, first, _ in found)


def test_tiles_are_as_wide_as_they_can_be():
    end = at(24 * 3600 + 13 * 60)
    assert (
        sum((last - first) // step for step, first, last in tiles(end - timedelta(days=1), end)) == 23 + 4 + 1 + 7 + 3
    )


@pytest.fixture
def group(db):
    return a_group(a_cluster())


def fill(group, since=None, **fields):
    """Every window that the last day is made of, from `since` on: ten consumed and one redelivery a minute."""
    rows = []
    end = UNTIL.replace(second=0)
    day_ago, hour_ago = end - timedelta(days=1), end - timedelta(hours=1)
    wide = [tile for ends in ((day_ago, end), (day_ago, hour_ago), (hour_ago, end)) for tile in tiles(*ends)]
    for step, first, last in [*wide, (MINUTE, hour_ago, end)]:
        for number in range((last - first) // step):
            start, minutes = first + number * step, step // MINUTE
            if since is None or start >= since:
                volumes = {"into_retry": minutes, "out_of_retry": 0, "into_dlq": 2 * minutes, "consumed": 10 * minutes}
                row = {"step_seconds": step.total_seconds(), "start": start, "readings": 4}
                rows.append(GroupWindow(group=group, **row | volumes | fields))
    GroupWindow.objects.bulk_create(rows, ignore_conflicts=True)


def recent(group, until=UNTIL):
    return recent_volumes(until, REACH).get(group.pk)


def test_it_is_the_share_of_the_hour_and_the_sum_of_the_day(group):
    fill(group)
    found = recent(group)
    assert (found.retry_share, found.dlq_day_messages, found.unknown) == (0.1, 2 * 24 * 60, {})
    assert (found.dlq_day_messages_at_least, found.dlq_day_since) == (2 * 24 * 60, None)
    assert (found.retry_share_known, found.retry_share_since) == (None, None)


def said(found):
    return {name: volume_words(reason) for name, reason in found.unknown.items()}


def test_what_is_known_of_a_part_is_kept_as_numbers(group):
    fill(group, since=at(23 * 3600 + 40 * 60))
    known = {"code": "known_since", "since": "2026-03-02T01:40:00Z"}
    assert recent(group).unknown["retry_share"] == known | {"at_least": {"into_retry": 33, "consumed": 330}}


def test_what_began_in_the_middle_says_since_when_and_how_much_at_least(group):
    fill(group, since=at(23 * 3600 + 40 * 60))
    found = recent(group)
    assert (found.retry_share, found.dlq_day_messages) == (None, None)
    assert said(found) == {
        "retry_share": "no data before 2026-03-02 01:40:00 UTC: ≥ 33 into retry, ≥ 330 consumed",
        "dlq_day_messages": "no data before 2026-03-02 01:40:00 UTC: ≥ 66",
    }
    since = at(23 * 3600 + 40 * 60)
    assert (found.dlq_day_messages_at_least, found.dlq_day_since) == (66, since)
    assert (found.retry_share_known, found.retry_share_since) == (0.1, since)


def test_of_the_last_hour_each_minute_counts(group):
    """The ten minutes and the hour that they are in are not known."""
    for minute in range(8, 13):
        volumes = {"into_retry": 1, "out_of_retry": 1, "into_dlq": 3, "consumed": 10}
        start = at(24 * 3600 + 60 * minute)
        GroupWindow.objects.create(group=group, step_seconds=60, start=start, readings=4, **volumes)
    for step, start in ((600, at(24 * 3600)), (3600, at(24 * 3600))):
        GroupWindow.objects.create(group=group, step_seconds=step, start=start, readings=20)
    assert said(recent(group)) == {
        "retry_share": "no data before 2026-03-02 02:08:00 UTC: ≥ 5 into retry, ≥ 50 consumed",
        "dlq_day_messages": "no data before 2026-03-02 02:08:00 UTC: ≥ 15",
    }


def test_a_hole_says_how_much_is_known(group):
    fill(group)
    in_the_hour = at(24 * 3600 - 600)
    GroupWindow.objects.filter(step_seconds__in=(60, 600), start=in_the_hour).update(into_retry=None)
    GroupWindow.objects.filter(step_seconds=3600, start=at(3600)).update(into_dlq=None)
    # What is known begins with the range: there is no moment since when.
    assert (recent(group).dlq_day_messages_at_least, recent(group).dlq_day_since) == (2760, None)
    assert said(recent(group)) == {
        "retry_share": "data for 59 of 60 minutes: ≥ 59 into retry, ≥ 600 consumed",
        "dlq_day_messages": "data for 1,380 of 1,440 minutes: ≥ 2,760",
    }


def test_a_share_is_of_the_minutes_in_which_both_numbers_are_known(group):
    fill(group)
    GroupWindow.objects.filter(step_seconds__in=(60, 600), start=at(24 * 3600 - 600)).update(into_retry=None)
    assert recent(group).retry_share_known == pytest.approx(59 / 590)


def test_what_never_was_read_is_no_share_of_zero(group):
    fill(group, into_retry=None)
    assert (recent(group).retry_share, recent(group).retry_share_known) == (None, None)


def test_a_missing_minute_is_a_hole(group):
    fill(group)
    GroupWindow.objects.filter(step_seconds=60, start=UNTIL.replace(second=0) - MINUTE).delete()
    assert recent(group).retry_share is None


@pytest.mark.parametrize(("is_missing", "share"), [(True, pytest.approx(0.1)), (False, None)])
def test_readings_rarer_than_minutes_leave_no_hole_but_one_that_is_unknown_does(group, is_missing, share):
    fill(group)
    last = GroupWindow.objects.filter(step_seconds=60, start=UNTIL.replace(second=0) - MINUTE)
    last.delete() if is_missing else last.update(into_retry=None)
    [found] = recent_volumes(UNTIL, timedelta(minutes=3)).values()
    assert found.retry_share == share


def test_nothing_consumed_is_no_share(group):
    fill(group, consumed=0, into_retry=0)
    found = recent(group)
    assert (found.retry_share, found.unknown) == (None, {"retry_share": "nothing_consumed"})


def test_windows_without_volumes_are_not_known_at_all(group):
    fill(group, consumed=None, into_dlq=None)
    found = recent(group)
    assert said(found)["dlq_day_messages"] == "no window has data: ≥ 0"
    assert (found.dlq_day_messages_at_least, found.retry_share_known) == (None, None)


def test_a_group_without_windows_is_left_out(group):
    assert recent(group) is None
