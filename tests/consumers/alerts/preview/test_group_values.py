"""Stored windows come the same, whether few groups are looked at or all of them."""

from datetime import timedelta

import pytest

from consumers.alerts.preview import group_values
from consumers.alerts.preview.grid import Grid, step_for
from consumers.models import GroupWindow
from tests.world import NOW, a_cluster, a_group, ago

HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)


@pytest.mark.django_db
@pytest.mark.parametrize("named_at_once", [500, 1])
def test_windows_are_those_of_the_range_and_the_groups(monkeypatch, named_at_once):
    monkeypatch.setattr(group_values, "NAMED_AT_ONCE", named_at_once)
    cluster = a_cluster()
    billing, audit, other = (a_group(cluster, name) for name in ("billing", "audit", "other"))
    for group, age, step, lag in (
        (billing, 60, 60, 1),
        (billing, 3600, 60, None),
        (billing, 3660, 60, 3),
        (audit, 120, 60, 4),
        (audit, 600, 600, 5),
        (other, 60, 60, 6),
    ):
        GroupWindow.objects.create(group=group, step_seconds=step, start=ago(age), lag_messages=lag, readings=4)
    found = group_values.stored_windows({billing.pk: 7, audit.pk: 8}, ["lag_messages"], NOW - HOUR - SECOND, NOW, 60)
    rows = sorted((row["place"], row["start"], row["lag_messages"]) for row in found.to_pylist())
    assert rows == [(7, ago(3600), None), (7, ago(60), 1), (8, ago(120), 4)]


@pytest.mark.parametrize(
    ("subjects", "days", "finest", "step"),
    [(148, 7, 60, 60), (149, 7, 60, 600), (1, 30, 600, 600), (1000, 1, 60, 60), (10_000, 7, 60, 3600)],
)
def test_steps_are_as_narrow_as_the_number_of_values_lets_them_be(subjects, days, finest, step):
    assert step_for(subjects, NOW - timedelta(days=days), NOW, finest) == step


def test_a_grid_is_of_whole_steps():
    grid = Grid.of(NOW - timedelta(seconds=1799), NOW + timedelta(seconds=59), 600)
    assert (grid.since, grid.until, grid.count) == (NOW - timedelta(seconds=1200), NOW, 2)


@pytest.mark.parametrize(("age", "moments"), [(1300, 2), (1200, 2), (1199, 2), (600, 1), (599, 1), (0, 0)])
def test_moments_after_something_was_first_seen(age, moments):
    assert Grid(NOW - timedelta(seconds=1200), NOW, 600).moments_from(ago(age)) == moments
