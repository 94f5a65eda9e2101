"""Readings of a group, and the rebalances in them."""

import pytest

from consumers.pipeline.durations import Durations
from tests.consumers.pipeline.rebalances.event_cases import CASES, EPISODES
from tests.rebalance_histories import rebalances, seconds


@pytest.fixture(scope="module")
def events():
    both = {name: case[:2] for name, case in (CASES | EPISODES).items()}
    rows = rebalances(both, Durations())
    return {name: [row for row in rows if row["group"] == name] for name in both}


@pytest.mark.parametrize("name", CASES)
def test_a_rebalance_lasts_from_the_first_change_until_two_whole_readings_agree(events, name):
    bounds = ("started_after_us", "started_before_us", "last_change_us", "settled_us")
    assert [tuple(seconds(row[bound]) for bound in bounds) for row in events[name]] == CASES[name][2]


@pytest.mark.parametrize("name", EPISODES)
def test_rebalances_with_less_than_a_minute_between_them_are_one_episode(events, name):
    assert [(seconds(row["episode_us"]), row["rollout"]) for row in events[name]] == EPISODES[name][2]


def test_it_counts_readings_up_to_where_it_settled(events):
    (row,) = events["the one that joins is silent at first"]
    assert (row["polls"], seconds(row["end_us"])) == (2, 105)


def test_it_names_the_members_before_and_after(events):
    (row,) = events["changes follow each other"]
    assert (row["client_ids_before"], row["client_ids_after"]) == (["a"], ["a", "b", "c"])
    assert (row["members_before"], row["members_after"]) == (1, 3)
