"""How often a group was without a member, counted by day and stored every ten minutes."""

import pytest

from consumers.models import ConsumerGroup
from consumers.polling.record.keyed_rows import EntityIds
from consumers.polling.record.recorder import AT_ONCE, Presence, added
from tests.readings import at, group_members
from tests.world import a_cluster, a_group

EMPTY, ONE = group_members("billing"), group_members("billing", "c1")
SILENT = group_members("billing", error="broker-b: silent")


@pytest.fixture
def ids(db):
    cluster = a_cluster(read_at=None)
    a_group(cluster)
    return EntityIds.of(cluster)


def stored():
    return ConsumerGroup.objects.get(name="billing").presence


def test_it_stores_nothing_before_ten_minutes_are_over(ids):
    presence = Presence()
    for seconds in range(0, 600, 15):
        presence.note(ids, [EMPTY], at(seconds))
    assert stored() == {}
    presence.note(ids, [ONE], at(600))
    assert stored() == {"2026-03-01": [41, 40]}


def test_what_is_stored_is_added_to(ids):
    presence = Presence()
    for seconds in (0, 600, 1200, 1800):
        presence.note(ids, [EMPTY], at(seconds))
    assert stored() == {"2026-03-01": [4, 4]}


def test_a_process_that_ends_loses_what_it_held_back_and_no_more(ids):
    first = Presence()
    for seconds in (0, 600, 615):
        first.note(ids, [EMPTY], at(seconds))
    second = Presence()
    for seconds in (630, 1230):
        second.note(ids, [ONE], at(seconds))
    assert stored() == {"2026-03-01": [4, 2]}


def test_an_answer_that_is_not_whole_is_not_counted(ids):
    presence = Presence()
    for seconds, answer in ((0, EMPTY), (300, SILENT), (600, EMPTY)):
        presence.note(ids, [answer], at(seconds))
    assert stored() == {"2026-03-01": [2, 2]}


def test_a_reading_stores_a_bounded_number_of_groups(ids, django_assert_max_num_queries):
    cluster = ConsumerGroup.objects.get().cluster
    names = [f"group-{number}" for number in range(AT_ONCE + 1)]
    ids.make_groups(cluster, names, at(0))
    presence = Presence()
    presence.note(ids, [group_members(name) for name in names], at(0))
    with django_assert_max_num_queries(20):
        presence.note(ids, [], at(600))
    assert ConsumerGroup.objects.exclude(presence={}).count() == AT_ONCE
    presence.note(ids, [], at(615))
    assert ConsumerGroup.objects.exclude(presence={}).count() == AT_ONCE + 1


def test_eight_days_are_kept():
    days = {f"2026-02-{day}": [10, 5] for day in range(19, 29)}
    kept = added(days, {"2026-03-01": [1, 1]}, at(0))
    assert list(kept) == [*(f"2026-02-{day}" for day in range(22, 29)), "2026-03-01"]
