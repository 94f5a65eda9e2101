"""Rounds of the health task: everything noticed in each, a check of some, the longest unchecked first."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from consumers.alerts.health import note
from consumers.groups.detail import group_head
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters
from consumers.models import Assignment, ConsumerGroup, GroupHealth, GroupWindow
from tests.health_rows import a_healthy_group, a_read_cluster
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db


def stopped() -> datetime:
    return NOW


def ticking(seconds: float) -> Callable[[], datetime]:
    """Each look at it takes so long."""
    looks = iter(range(10_000))
    return lambda: NOW + timedelta(seconds=seconds * next(looks))


@pytest.fixture
def group() -> ConsumerGroup:
    return a_healthy_group(a_read_cluster())


def test_after_a_round_a_list_says_what_a_look_at_the_group_says(group: ConsumerGroup) -> None:
    GroupWindow.objects.filter(group=group).update(into_dlq=5)
    Assignment.objects.filter(group=group).order_by("pk")[0].delete()
    note(NOW, stopped, 5)
    [listed] = group_list(GroupFilters(), now=NOW).rows
    found = group_head(group, now=NOW)
    assert listed.health == found.health == "critical"
    assert listed.health_reasons == found.health_reasons
    assert [reason.code for reason in listed.health_reasons] == ["ownership", "dlq_inflow"]


def test_what_is_over_is_no_reason_after_the_next_round(group: ConsumerGroup) -> None:
    GroupWindow.objects.filter(group=group).update(into_dlq=5)
    note(ago(15), stopped, 5)
    assert GroupHealth.objects.get().level == "warning"
    GroupWindow.objects.filter(group=group).update(into_dlq=0)
    note(NOW, stopped, 5)
    row = GroupHealth.objects.get()
    assert (row.level, row.noticed, row.noted_at) == ("ok", [], NOW)


def test_a_round_that_takes_too_long_leaves_the_rest_to_the_next_the_longest_unchecked_first(
    group: ConsumerGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("consumers.alerts.health.AT_ONCE", 1)
    for name in ("mail", "stock"):
        a_healthy_group(group.cluster, name)
    report = note(ago(60), ticking(3), 4)
    assert (report.groups, report.checked, report.left) == (3, 1, 2)
    assert GroupHealth.objects.exclude(checked_at=None).get().group == group
    note(ago(20), ticking(3), 4)
    assert set(GroupHealth.objects.exclude(checked_at=None).values_list("group__name", flat=True)) == {
        "billing",
        "mail",
    }
    # Never checked comes first, then the one that was checked longest ago.
    note(NOW, ticking(3), 7)
    checked = dict(GroupHealth.objects.values_list("group__name", "checked_at"))
    assert checked == {"billing": NOW, "mail": ago(20), "stock": NOW}


def test_a_group_whose_members_just_changed_is_checked_before_others(
    group: ConsumerGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("consumers.alerts.health.AT_ONCE", 1)
    later = a_healthy_group(group.cluster, "stock")
    note(ago(100), stopped, 5)
    ConsumerGroup.objects.filter(pk=later.pk).update(members_changed_at=ago(50))
    note(NOW, ticking(3), 4)
    assert GroupHealth.objects.get(checked_at=NOW).group == later


def test_a_group_that_is_gone_is_left_out(group: ConsumerGroup) -> None:
    note(ago(60), stopped, 5)
    group.delete()
    assert note(NOW, stopped, 5).groups == 0
    assert not GroupHealth.objects.exists()


def test_a_round_in_which_nothing_changed_writes_the_moment_alone(
    group: ConsumerGroup, django_assert_max_num_queries
) -> None:
    note(ago(20), stopped, 5)
    with django_assert_max_num_queries(12):
        note(NOW, stopped, 5)
    assert GroupHealth.objects.get().checked_at == ago(20)
