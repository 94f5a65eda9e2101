"""What a judgement is told of groups: one row each, with what their kinds change."""

import pytest

from consumers.models import GroupThresholds, GroupWindow
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import KindRows
from tests.world import NOW, a_client, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
DAY = 86400
WEEK = {f"2026-03-{day:02}": [100, 80] for day in range(7, 15)}
AWAY = {"online": False, "members": 0, "offline_since": ago(6 * 3600), "presence": WEEK, "first_seen_at": ago(30 * DAY)}


@pytest.fixture
def cluster():
    return a_cluster(read_at=None)


def the_row():
    (row,) = KindRows.of(["prod"], NOW, Durations()).groups.to_pylist()
    return row


def a_window(group, seconds, time_lag_seconds, step_seconds=3600):
    GroupWindow.objects.create(
        group=group, step_seconds=step_seconds, start=ago(seconds), time_lag_seconds=time_lag_seconds, readings=1
    )


@pytest.mark.parametrize(
    ("column", "fields"),
    [
        ("is_ghost", {"online": False, "offline_since": ago(9 * DAY), "first_seen_at": ago(9 * DAY)}),
        ("is_paused", {"consume_enable": False}),
        ("is_away", AWAY),
        ("has_unlisted_members", {"online": False, "offline_since": ago(900), "moved_at": ago(60)}),
        ("is_popping", {"consume_type": "CONSUME_POP"}),
        ("is_away", {"presence": {}}),
    ],
)
def test_each_kind_has_its_column(cluster, column, fields):
    a_group(cluster, **fields)
    row = the_row()
    kinds = [name for name, value in row.items() if value is True]
    assert kinds == ([] if fields == {"presence": {}} else [column])


def test_it_is_away_only_while_it_has_no_member(cluster):
    a_group(cluster, **AWAY | {"online": True, "offline_since": None})
    assert the_row()["is_away"] is False


def test_moves_that_no_listed_member_made_end_being_away(cluster):
    a_group(cluster, **AWAY, moved_at=ago(3600))
    assert (the_row()["is_away"], the_row()["has_unlisted_members"]) == (False, True)


def test_it_may_wait_twice_as_long_as_it_did_before_it_went(cluster):
    group = a_group(cluster, **AWAY)
    for seconds, longest in ((DAY, 400.0), (2 * DAY, 900.0), (3 * DAY, None), (3600, 5000.0), (9 * DAY, 7000.0)):
        a_window(group, seconds, longest)
    a_window(group, 3 * DAY, 8000.0, step_seconds=60)
    assert the_row()["habit_limit_seconds"] == 1800.0


def test_how_long_it_usually_waits_is_not_known_without_a_time_lag(cluster):
    a_window(a_group(cluster, **AWAY), DAY, None)
    assert the_row()["habit_limit_seconds"] is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([[{"wait_ack_count": 3}, {"wait_ack_count": 4}], [{"wait_ack_count": 2}]], (True, 9)),
        ([[{"wait_ack_count": 3}], None], (True, None)),
        ([[], []], (False, 0)),
        ([None], (False, None)),
    ],
    ids=["all members said", "one has not said", "none pops", "nobody said"],
)
def test_members_say_whether_they_pop_and_what_waits_for_an_ack(cluster, said, expected):
    group = a_group(cluster)
    for number, queues in enumerate(said):
        a_client(group, f"c{number}", pop_queues=queues)
    a_client(group, "gone", pop_queues=[{"wait_ack_count": 50}], gone_by=ago(60))
    assert (the_row()["is_popping"], the_row()["unacked_messages"]) == expected


def test_retired_topics_are_those_of_their_group(cluster):
    a_group(cluster, unsubscribed={"Old": ago(700).isoformat(), "Young": ago(60).isoformat()})
    a_group(a_cluster("other", read_at=None), unsubscribed={"Old": ago(700).isoformat()})
    rows = KindRows.of(["prod"], NOW, Durations()).retired.to_pylist()
    assert rows == [{"cluster": "prod", "group": "billing", "topic": "Old"}]


def test_its_cost_does_not_grow_with_groups(cluster, django_assert_num_queries):
    for number in range(20):
        a_group(cluster, f"group-{number}", **AWAY)
    with django_assert_num_queries(3):
        KindRows.of(["prod"], NOW, Durations())


def test_a_group_may_have_thresholds_of_its_own(cluster):
    GroupThresholds.objects.create(group=a_group(cluster), behind_seconds=3600)
    assert (the_row()["behind_seconds"], the_row()["allowance_seconds"]) == (3600, None)
