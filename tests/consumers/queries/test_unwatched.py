"""Times in which nobody saw what members did."""

from datetime import timedelta

import pytest

from consumers.models import ConsumerGroup, MembershipGap, PipelineRun, Reading
from consumers.queries.unwatched import is_partly_watched, unread_spans, unwatched_spans
from consumers.rebalances.flapping import flapping_of
from tests.rebalance_rows import a_rebalance, read_every, was_watched
from tests.world import NOW, a_client, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db
HOUR, DAY = 3600, 86400


@pytest.fixture
def billing():
    group = a_group(a_cluster())
    a_snapshot(group, a_queue(group.cluster), 1, 2)
    return group


def spans(group, seconds=HOUR, *, are_of_all=True):
    """`are_of_all`: totals of all groups together are a lower bound, too, where there are some."""
    found = unwatched_spans({group.pk}, ago(seconds), NOW).get(group.pk, [])
    if found:
        assert is_partly_watched(group.cluster.name, None, ago(seconds), NOW) == are_of_all
    return found


def test_a_group_that_was_always_read_and_evaluated_has_none(billing):
    was_watched(billing.cluster, HOUR)
    assert spans(billing) == []


def test_the_time_before_the_first_reading_is_one(billing):
    was_watched(billing.cluster, 300)
    assert spans(billing) == [(ago(HOUR), ago(300))]


def test_an_outage_of_readings_is_one(billing):
    was_watched(billing.cluster, HOUR)
    read_every(15, billing.cluster, 2400, 15, error="refused")
    assert spans(billing) == [(ago(2415), ago(5))]


def test_an_outage_of_a_broker_that_holds_queues_of_the_group_is_one(billing):
    was_watched(billing.cluster, HOUR)
    for seconds, until, is_read in ((HOUR, 2415, True), (2400, 615, False), (600, 0, True)):
        broker = {"name": "broker-a", "read": is_read, "error": None}
        read_every(15, billing.cluster, seconds, until, brokers=[broker])
    assert spans(billing) == [(ago(2415), ago(600))]
    stranger = a_group(billing.cluster, "stranger")
    assert spans(stranger) == []


def test_a_pause_of_evaluations_that_no_run_made_up_for_is_one(billing):
    was_watched(billing.cluster, DAY)
    PipelineRun.objects.all().delete()
    for since, until in ((DAY, 30000), (20000, 15)):
        times = {"started_at": ago(until), "finished_at": ago(until - 5)}
        PipelineRun.objects.create(since=ago(since), until=ago(until), **times)
    assert spans(billing, DAY) == [(ago(30000), ago(20000))]
    assert spans(billing) == []


def unreported(group, seconds, until, *, is_listed=False):
    MembershipGap.objects.create(group=group, began_at=ago(seconds), ended_at=ago(until), is_listed=is_listed)


@pytest.mark.parametrize("is_listed", [False, True], ids=["no list of members", "a silent member"])
def test_a_time_when_members_of_the_group_were_not_reported_is_one_of_this_group_only(billing, is_listed):
    was_watched(billing.cluster, HOUR)
    stranger = a_group(billing.cluster, "stranger")
    unreported(billing, 2000, 1000, is_listed=is_listed)
    assert (spans(billing), spans(stranger)) == ([(ago(2000), ago(1000))], [])


def test_times_that_overlap_are_one(billing):
    was_watched(billing.cluster, HOUR)
    unreported(billing, 2000, 1000)
    unreported(billing, 1500, 500, is_listed=True)
    assert spans(billing) == [(ago(2000), ago(500))]


@pytest.mark.parametrize("error", [None, "broker-a: refused"], ids=["not asked", "no list of members"])
def test_members_that_are_not_reported_for_too_long_are_one_that_goes_on(billing, error):
    was_watched(billing.cluster, HOUR)
    ConsumerGroup.objects.update(membership_at=ago(901), membership_error=error)
    # A group that nobody asks any more may be gone.
    assert spans(billing, are_of_all=error is not None) == [(ago(901), NOW)]


@pytest.mark.parametrize(("asked", "error"), [(899, None), (60, "broker-a: refused")])
def test_a_group_that_waits_for_its_turn_or_was_refused_once_has_none(billing, asked, error):
    was_watched(billing.cluster, HOUR)
    ConsumerGroup.objects.update(membership_at=ago(asked), membership_error=error)
    assert spans(billing) == []


def test_a_member_that_does_not_answer_any_more_is_one_that_goes_on(billing):
    was_watched(billing.cluster, HOUR)
    a_client(billing, running_info_at=ago(121), running_info_error="timed out")
    assert spans(billing) == [(ago(121), NOW)]


@pytest.mark.parametrize(
    "fields",
    [{"running_info_at": None}, {"running_info_at": ago(119)}, {"running_info_at": ago(600), "gone_by": ago(500)}],
    ids=["never answered", "for a moment", "left"],
)
def test_a_member_that_never_answered_or_only_for_a_moment_or_has_left_is_none(billing, fields):
    was_watched(billing.cluster, HOUR)
    a_client(billing, running_info_error="timed out", **fields)
    assert spans(billing) == []


def test_what_is_counted_over_all_groups_is_whole_where_each_was_always_watched(billing):
    was_watched(billing.cluster, HOUR)
    unreported(billing, 2000, 1990)
    assert not is_partly_watched(None, None, ago(HOUR), NOW)
    unreported(billing, 2000, 1000)
    assert is_partly_watched(None, None, ago(HOUR), NOW)


def test_what_is_counted_of_one_group_is_whole_where_only_another_was_not_watched(billing):
    was_watched(billing.cluster, HOUR)
    unreported(a_group(billing.cluster, "stock"), 2000, 1000)
    found = [is_partly_watched("prod", name, ago(HOUR), NOW) for name in ("billing", "stock", "nobody")]
    assert found == [False, True, False]


@pytest.mark.parametrize(("until", "is_partial"), [(570, False), (540, True)])
def test_a_broker_that_is_not_read_for_a_moment_leaves_totals_whole(billing, until, is_partial):
    was_watched(billing.cluster, HOUR)
    broker = {"name": "broker-a", "read_from": None, "error": None}
    Reading.objects.filter(taken_at__gte=ago(600), taken_at__lte=ago(until)).update(
        complete=False, brokers=[broker | {"read": False}, broker | {"name": "broker-b", "read": True}]
    )
    assert is_partly_watched("prod", None, ago(HOUR), NOW) == is_partial


def test_the_totals_of_a_cluster_are_whole_where_only_another_was_not_watched(billing):
    was_watched(billing.cluster, HOUR)
    other = a_cluster("other")
    assert (is_partly_watched("prod", None, ago(HOUR), NOW), is_partly_watched(None, None, ago(HOUR), NOW)) == (
        False,
        True,
    )
    unreported(a_group(other, "stock"), 2000, 1000)
    assert not is_partly_watched("prod", None, ago(HOUR), NOW)


def test_many_groups_take_as_many_queries_as_one_for_their_totals(billing, django_assert_num_queries):
    was_watched(billing.cluster, HOUR)
    for number in range(10):
        a_group(billing.cluster, f"group-{number}")
        with django_assert_num_queries(7):
            is_partly_watched("prod", None, ago(HOUR), NOW)


def test_ten_groups_take_as_many_queries_as_one(billing, django_assert_num_queries):
    was_watched(billing.cluster, HOUR)
    groups = {billing.pk, *(a_group(billing.cluster, f"group-{number}").pk for number in range(9))}
    for some in ({billing.pk}, groups):
        with django_assert_num_queries(7):
            unwatched_spans(some, ago(HOUR), NOW)


@pytest.mark.parametrize("fields", [{"error": "failed"}, {"finished_at": None}], ids=["failed", "goes on"])
def test_a_run_that_did_not_succeed_evaluated_nothing(billing, fields):
    was_watched(billing.cluster, HOUR)
    PipelineRun.objects.update(**fields)
    assert spans(billing) == [(ago(HOUR), NOW)]


def test_counts_of_unstable_groups_are_lower_bounds_then(billing):
    was_watched(billing.cluster, 7200)
    a_rebalance(billing, ago(600))
    found = flapping_of("prod", "billing", NOW)
    assert (found.is_hour_partial, found.is_day_partial) == (False, True)


@pytest.mark.parametrize(("longest", "found"), [(59, [(ago(600), ago(540))]), (60, [])])
def test_a_pause_is_one_only_if_it_is_longer_than_allowed(billing, longest, found):
    read_every(30, billing.cluster, HOUR, 600)
    read_every(30, billing.cluster, 540)
    told = unread_spans({billing.pk}, ago(HOUR), NOW, timedelta(seconds=longest))
    assert told.get(billing.pk, []) == found


def test_a_broker_that_was_not_read_now_and_then_was_read_in_between(billing):
    was_watched(billing.cluster, HOUR)
    Reading.objects.all().delete()
    for number, seconds in enumerate(range(HOUR, 0, -15)):
        broker = {"name": "broker-a", "read": number % 3 != 0, "error": None}
        read_every(15, billing.cluster, seconds, seconds - 14, brokers=[broker])
    assert spans(billing) == []
