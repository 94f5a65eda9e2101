"""The last value of a preview is what rules look at just then, of each measure that both make of the same rows."""

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from consumers.alerts.measures.registry import measured
from consumers.alerts.preview.judged import rebalance_values, repeat_values
from consumers.alerts.preview.values import Grid, Past, Values, judged_moments
from consumers.alerts.preview.windows import unsettled_values
from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, GroupWindow, Measure, PipelineRun
from consumers.pipeline.volumes import recent_volumes
from tests.alert_rows import a_rule
from tests.consumers.alerts.measures.group_rows import a_behind_group
from tests.preview_rows import past_values
from tests.rebalance_rows import a_rebalance, a_repeat, read_every
from tests.world import NOW, a_broker, a_cluster, ago

pytestmark = pytest.mark.django_db

PAST = Past(Lake.at("/nowhere"), lambda: None)
GRID = Grid(ago(7200), NOW, 60)
GROUPS = 40


@pytest.fixture
def groups() -> list[ConsumerGroup]:
    PipelineRun.objects.create(since=ago(60), until=NOW, started_at=NOW, finished_at=NOW)
    cluster = a_cluster()
    a_broker(cluster, file_reserved_hours=72)
    # For a minute and a half nothing was read.
    read_every(15, cluster, 7500, 990)
    read_every(15, cluster, 900)
    return [a_behind_group(cluster, name=f"group-{number:02}") for number in range(GROUPS)]


def last_of(found: Iterator[Values]) -> list[float | None]:
    """By place."""
    last: list[float | None] = [None] * GROUPS
    for values in found:
        for place, value in zip(values.places.tolist(), values.value[:, -1].tolist(), strict=True):
            last[place] = None if np.isnan(value) else value
    return last


def live(measure: Measure) -> list[Any]:
    table = measured(NOW, [a_rule("Any", measure=measure, threshold=1.0)]).groups
    return list(table.columns[measure].values)


def places(groups: list[ConsumerGroup]) -> dict[int, int]:
    return {group.pk: place for place, group in enumerate(groups)}


def put_windows(groups: list[ConsumerGroup]) -> None:
    """Of the past hour: some are missing, some do not know all that went by, and of some groups nothing did."""
    dice = random.Random(3)

    def volume(group: ConsumerGroup) -> int | None:
        if group.pk % 3 == 0 and dice.random() < 0.01:
            return None
        return 0 if group.pk % 4 == 0 else dice.choice([0, 1, 2, 30])

    names = ("into_retry", "consumed", "into_dlq")
    for group in groups:
        minutes = [number for number in range(1, 61) if group.pk % 7 or dice.random() < 0.98]
        said = [{name: volume(group) for name in names} for _ in minutes]
        columns = {name: [one[name] for one in said] for name in names}
        is_whole = len(minutes) == 60
        # That of the hour is the sum, as the pipeline makes it.
        whole = {name: sum(own) if is_whole and None not in own else None for name, own in columns.items()}
        of_all = [(60, ago(60 * number), one) for number, one in zip(minutes, said, strict=True)]
        GroupWindow.objects.bulk_create(
            GroupWindow(group=group, step_seconds=step, start=start, readings=4, **volumes)
            for step, start, volumes in [*of_all, (3600, ago(3600), whole)]
        )


def test_dead_letters_are_those_that_rules_count(groups: list[ConsumerGroup]) -> None:
    put_windows(groups)
    GroupWindow.objects.filter(group__in=groups[:4], start=ago(180)).update(into_dlq=None)
    found = last_of(past_values(Measure.DLQ_INFLOW, places(groups), GRID, PAST))
    assert found == live(Measure.DLQ_INFLOW)
    assert None in found
    assert len(set(found)) > 5


def test_the_share_of_retries_is_that_which_is_judged(groups: list[ConsumerGroup]) -> None:
    put_windows(groups)
    judged = recent_volumes(NOW, timedelta(seconds=0))
    expected = [judged[group.pk].retry_share for group in groups]
    found = last_of(past_values(Measure.RETRY_SHARE, places(groups), GRID, PAST))
    assert found == pytest.approx(expected)
    assert None in found
    assert len(set(found)) > 5


def put_rebalances(groups: list[ConsumerGroup]) -> None:
    """Some settled, some are open; episodes of one and of several."""
    dice = random.Random(4)
    for group in groups[5:]:
        at, episode = dice.uniform(500, 4000), None
        while at > 10:
            lasts = dice.choice([5.0, 20.0, 200.0, 700.0])
            end = max(5.0, at - lasts)
            episode = at if episode is None or dice.random() < 0.5 else episode
            is_last = end < 60 or dice.random() < 0.2
            settled = None if is_last and dice.random() < 0.6 else ago(max(0.0, end - 3))
            times = {"last_change_at": ago(end), "settled_at": settled, "episode_since": ago(episode)}
            a_rebalance(group, ago(at), polls=dice.choice([2, 50, 90]), rollout=dice.random() < 0.2, **times)
            if is_last:
                break
            at = end - dice.choice([30, 100, 900])


def test_rebalances_are_those_that_rules_count(groups: list[ConsumerGroup]) -> None:
    put_rebalances(groups)
    judged = judged_moments(GRID, timedelta(seconds=120))
    found = last_of(rebalance_values(places(groups), GRID, judged))
    assert found == live(Measure.REBALANCES)
    assert len(set(found)) > 2


@pytest.mark.parametrize("measure", [Measure.REPEATS, Measure.REDELIVERED])
def test_repeats_are_those_that_rules_count(groups: list[ConsumerGroup], measure: Measure) -> None:
    dice = random.Random(5)
    for group in groups[5:]:
        for at in dice.sample(range(100, 6000, 50), dice.choice([0, 1, 5])):
            sure = dice.choice(["proven", "likely", "possible"])
            a_repeat(group, ago(at), last_at=ago(at - dice.choice([0, 90])), confidence=sure, redelivered_low=at)
    judged = judged_moments(GRID, timedelta(seconds=120))
    found = last_of(repeat_values(places(groups), GRID, judged, messages=measure == Measure.REDELIVERED))
    assert found == live(measure)
    assert len(set(found)) > 2


def test_members_change_for_as_long_as_rules_say(groups: list[ConsumerGroup]) -> None:
    put_rebalances(groups)
    judged = judged_moments(GRID, timedelta(seconds=120))
    found = last_of(unsettled_values(places(groups), GRID, judged))
    assert found == pytest.approx(live(Measure.UNSETTLED))
    assert None in found
    assert len(set(found)) > 5
