"""Flapping is counted in episodes: a rollout is one, a crash loop of an hour is one that does not settle."""

from datetime import datetime

import pytest

from consumers.models import PipelineRun
from consumers.rebalances.events import rebalance_marks
from consumers.rebalances.flapping import Level, flapping_groups, flapping_of, level_of
from consumers.rebalances.rows import RebalanceFilters
from tests.rebalance_rows import a_rebalance, read_every
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
HOUR = RebalanceFilters(since=ago(3600), until=NOW, touching=True)
JUDGE = {"flapping_episodes_per_hour": 6, "restless_episodes_per_day": 24, "unsettled_after_seconds": 600}


@pytest.fixture
def billing():
    return a_group(a_cluster())


def episodes(group, count: int, every_seconds: float = 500, until: datetime = NOW) -> None:
    for number in range(1, count + 1):
        a_rebalance(group, ago(number * every_seconds))


@pytest.mark.parametrize(
    ("hour", "day", "changing", "level"),
    [
        (6, 6, None, Level.FLAPPING),
        (6, 40, 900, Level.FLAPPING),
        (5, 23, None, Level.STABLE),
        (5, 24, None, Level.RESTLESS),
        (1, 1, 600, Level.UNSETTLED),
        (1, 30, 600, Level.UNSETTLED),
        (1, 1, 599, Level.STABLE),
    ],
)
def test_a_level_follows_from_its_numbers(hour, day, changing, level):
    assert level_of(hour, day, changing, JUDGE) == level


def test_six_episodes_within_the_hour_are_flapping(billing):
    episodes(billing, 6)
    found = flapping_of("prod", "billing", NOW)
    assert (found.level, found.episodes_hour, found.episodes_day, found.newest_at) == ("flapping", 6, 6, ago(500))


def test_many_rebalances_of_one_episode_are_one(billing):
    for seconds in range(100, 1100, 100):
        a_rebalance(billing, ago(seconds), episode_since=ago(1000))
    found = flapping_of("prod", "billing", NOW)
    assert (found.level, found.episodes_hour) == ("stable", 1)


def test_what_was_longer_ago_counts_for_the_day(billing):
    for number in range(24):
        a_rebalance(billing, ago(3700 + 600 * number))
    found = flapping_of("prod", "billing", NOW)
    assert (found.level, found.episodes_hour, found.episodes_day) == ("restless", 0, 24)


def test_what_was_two_days_ago_counts_for_nothing(billing):
    for number in range(30):
        a_rebalance(billing, ago(2 * 86400 + 60 * number))
    assert flapping_of("prod", "billing", NOW).level == "stable"


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({}, "unsettled"),
        ({"rollout": True}, "stable"),
        ({"settled_at": ago(20)}, "unsettled"),
        ({"settled_at": ago(70), "last_change_at": ago(70)}, "stable"),
        ({"last_change_at": ago(700)}, "stable"),
        ({"episode_since": ago(900), "started_before": ago(900)}, "unsettled"),
        ({"episode_since": ago(300)}, "stable"),
        ({"polls": 4}, "stable"),
    ],
)
def test_one_that_goes_on_for_ten_minutes_and_is_no_rollout_does_not_settle(billing, fields, level):
    read_every(15, billing.cluster, 1500)
    values = {"last_change_at": ago(30), "settled_at": None, "episode_since": ago(1500), "polls": 59}
    a_rebalance(billing, ago(900), **(values | fields))
    assert flapping_of("prod", "billing", NOW).level == level


def test_what_was_last_judged_long_ago_says_of_nothing_that_it_goes_on(billing):
    read_every(15, billing.cluster, 1500)
    a_rebalance(billing, ago(900), last_change_at=ago(330), settled_at=None, episode_since=ago(1500), polls=39)
    judged = PipelineRun.objects.create(since=ago(360), until=ago(300), started_at=ago(300), finished_at=ago(295))
    assert flapping_of("prod", "billing", NOW).level == "stable"
    PipelineRun.objects.filter(pk=judged.pk).update(until=ago(200))
    assert flapping_of("prod", "billing", NOW).level == "unsettled"


def test_only_groups_that_are_not_calm_are_listed_the_worst_first(billing):
    for name, count in (("audit", 7), ("stock", 9), ("quiet", 2)):
        episodes(a_group(billing.cluster, name), count, 300)
    assert [(row.group, row.episodes_hour) for row in flapping_groups("prod", NOW)] == [("stock", 9), ("audit", 7)]
    assert flapping_groups("second", NOW) == []


def test_a_group_without_a_rebalance_is_calm(billing):
    found = flapping_of("prod", "billing", NOW)
    assert (found.level, found.episodes_day, found.newest_at) == ("stable", 0, None)


def test_an_episode_is_one_mark_from_its_first_to_its_last_change(billing):
    for seconds in (900, 800, 700):
        a_rebalance(billing, ago(seconds), episode_since=ago(900))
    [mark] = rebalance_marks(HOUR)
    assert (mark.since, mark.until, mark.rebalances, mark.episodes) == (ago(900), ago(685), 3, 1)
    assert mark.at == "2026-03-14T02:48:20.000000Z"


def test_a_group_that_flaps_is_one_mark_with_its_counts(billing):
    episodes(billing, 7, 300)
    a_rebalance(a_group(billing.cluster, "stock"))
    marks = {mark.group: mark for mark in rebalance_marks(HOUR)}
    assert (marks["billing"].episodes, marks["billing"].rebalances) == (7, 7)
    assert (marks["billing"].since, marks["billing"].until) == (ago(2100), ago(285))
    assert marks["stock"].episodes == 1


def test_on_its_own_axis_a_group_that_flaps_has_every_episode(billing):
    episodes(billing, 7, 300)
    assert len(rebalance_marks(RebalanceFilters(group="billing", since=ago(3600), until=NOW))) == 7


def test_marks_are_of_the_range(billing):
    for seconds in (5000, 2000, 50):
        a_rebalance(billing, ago(seconds))
    [mark] = rebalance_marks(RebalanceFilters(since=ago(3600), until=ago(100)))
    assert mark.since == ago(2000)
