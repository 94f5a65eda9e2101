"""When the repeats of a minute of retries happened: by the readings that show them, and never later."""

from datetime import timedelta

import pytest

from consumers.models import RepeatEvent
from consumers.vocabulary.times import from_microseconds
from tests.consumers.pipeline.repeats.runs import a_window, evaluate
from tests.world import a_cluster, a_group, a_reading, ago

pytestmark = pytest.mark.django_db
MICROSECOND = timedelta(microseconds=1)


def read(group, *seconds):
    for one in seconds:
        a_reading(group.cluster, ago(one))


def parts():
    """Between which times each part lies."""
    found = [part for event in RepeatEvent.objects.order_by("started_at") for part in event.parts]
    return [(from_microseconds(part["after_us"]), from_microseconds(part["at_us"])) for part in found]


def test_a_repeat_is_dated_by_the_readings_around_it(lake, billing):
    read(billing, 130, 115, 70, 55)
    a_window(billing, 2, 5)

    evaluate(lake, since=120)

    event = RepeatEvent.objects.get()
    assert (event.began_after, event.started_at, event.last_at) == (ago(130), ago(70), ago(70))


@pytest.mark.parametrize("second", [1, 15, 31, 46, 59, 60])
def test_no_time_of_a_repeat_lies_after_the_newest_reading(lake, billing, second):
    """Whenever the run ends within the minute."""
    read(billing, *(one for one in range(135, 0, -15) if one >= 60 - second))
    for minutes in (2, 1):
        a_window(billing, minutes, 5)

    evaluate(lake, since=120, until=60 - second)

    newest = max(RepeatEvent.objects.values_list("last_at", flat=True))
    assert newest <= billing.cluster.readings.latest("taken_at").taken_at


def test_a_repeat_keeps_its_name_while_more_of_it_is_read(lake, billing):
    read(billing, *range(135, 0, -15))
    names = set()
    a_window(billing, 2, 5)
    for until in (75, 60, 45, 30, 15, 0):
        if until == 45:
            a_window(billing, 1, 5)
        evaluate(lake, since=until + 30, until=until)
        names |= set(RepeatEvent.objects.values_list("started_at", flat=True))

    assert names == {ago(75)}


def test_minutes_that_follow_one_another_share_the_reading_between_them(lake, billing):
    read(billing, *range(195, 0, -15))
    for minutes in (3, 2, 1):
        a_window(billing, minutes, 5)

    evaluate(lake, since=180)

    assert parts() == [(ago(195), ago(135)), (ago(135), ago(75)), (ago(75), ago(15))]


def test_a_range_that_is_run_again_leaves_the_minutes_around_it(lake, billing):
    read(billing, *range(180, 0, -60))
    for minutes in (3, 2, 1):
        a_window(billing, minutes, 5)
    evaluate(lake, since=180)
    before = parts()

    evaluate(lake, since=120, until=60)

    assert parts() == before
    assert RepeatEvent.objects.get().redelivered_high == 15


def test_where_the_readings_are_not_known_any_more_the_bounds_of_the_minute_stand_for_them(lake, billing):
    a_window(billing, 2, 5)

    evaluate(lake, since=120)

    assert parts() == [(ago(120), ago(60) - MICROSECOND)]


def test_readings_of_another_cluster_and_those_that_read_nothing_date_nothing(lake, billing):
    read(billing, 130, 75)
    read(a_group(a_cluster("other", read_at=None), "billing"), 121, 61)
    a_reading(billing.cluster, ago(65), complete=False, queues=0)
    a_reading(billing.cluster, ago(62), members={"history_error": "disk full"})
    a_window(billing, 2, 5)

    evaluate(lake, since=120)

    assert parts() == [(ago(130), ago(75))]


def test_minutes_five_apart_are_one_event_wherever_in_them_their_readings_lie(lake, billing):
    read(billing, 435, 428, 375, 135, 122, 61)
    for minutes in (7, 2):
        a_window(billing, minutes, 5)

    evaluate(lake, since=420)

    assert parts() == [(ago(428), ago(375)), (ago(122), ago(61))]
    assert RepeatEvent.objects.count() == 1
