"""Groups that nobody read and evaluated for a time."""

import pytest

from consumers.models import Reading
from consumers.pipeline.durations import Durations
from consumers.pipeline.interruptions import unknown_since
from tests.rebalance_rows import read_every
from tests.world import NOW, a_cluster, a_group, a_judged_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing():
    """Last evaluated an hour ago, and read a moment before."""
    group = a_group(a_cluster(read_at=None))
    a_judged_group(group, judged_at=ago(3600))
    read_every(15, group.cluster, 4000, 3605)
    return group


def found():
    return unknown_since(["prod"], NOW, Durations())


def test_a_group_that_nobody_read_and_evaluated_is_unknown_from_45_seconds_after_its_last_reading(billing):
    read_every(15, billing.cluster, 60)
    last = Reading.objects.filter(taken_at__lt=ago(3600)).first().taken_at
    assert (NOW - last).total_seconds() == 3610
    assert found() == {billing.pk: ago(3610 - 45)}


def test_a_group_that_was_read_while_no_run_went_on_is_not(billing):
    read_every(15, billing.cluster, 3600)
    assert found() == {}


@pytest.mark.parametrize(("queues", "count"), [(4, 0), (0, 1)])
def test_a_reading_that_read_no_broker_is_none(billing, queues, count):
    read_every(15, billing.cluster, 3600, complete=False, queues=queues)
    assert len(found()) == count


def test_a_group_that_was_evaluated_a_moment_ago_is_not_and_costs_one_query(billing, django_assert_num_queries):
    billing.judged.judged_at = ago(30)
    billing.judged.save()
    with django_assert_num_queries(1):
        assert found() == {}


def test_a_group_that_was_evaluated_after_the_last_such_time_is_not(billing):
    read_every(15, billing.cluster, 600)
    billing.judged.judged_at = ago(300)
    billing.judged.save()
    assert found() == {}
