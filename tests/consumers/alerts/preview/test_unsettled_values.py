"""What a preview says of members that were changing: as the evaluation would have said it at each moment."""

from typing import Any

import pytest

from consumers.alerts.measured import Subject
from consumers.alerts.measures.registry import measured
from consumers.alerts.preview.compared import excluded
from consumers.alerts.preview.windows import Piece, pieces, read_only
from consumers.models import Cluster, ConsumerGroup, Measure, SubjectKind
from consumers.rebalances.flapping import Newest
from tests.alert_rows import a_rule
from tests.consumers.alerts.measures.group_rows import a_behind_group, a_judged_cluster
from tests.preview_rows import a_rule_of, asked, judged, members_told, told
from tests.rebalance_rows import a_crash_loop, a_rebalance, read_every
from tests.world import NOW, a_cluster, a_group, ago

RULE = a_rule_of(measure="unsettled_seconds", comparison="above", threshold=600.0)


def newest(began: float, last_change: float, settled: float | None = None, **fields: Any) -> Newest:
    """In seconds before now."""
    values: dict[str, Any] = {"group_id": 1, "started_before": ago(began), "last_change_at": ago(last_change)}
    values |= {"settled_at": None if settled is None else ago(settled), "episode_since": ago(began), "rollout": False}
    return Newest(**({**values, "polls": 99} | fields))


def sealed_fields(found: list[Newest]) -> list[tuple[float, float, float]]:
    """From when, until when, and the value at the end, of pieces that are not empty."""
    made = [one for one in pieces(found, ago(3600), NOW) if one.begin < one.end]
    return [
        (seconds(one.begin), seconds(one.end), seconds(one.since) - seconds(max(one.last, one.since))) for one in made
    ]


def seconds(at: Any) -> float:
    return (NOW - at).total_seconds()


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], [(3600, 0, 0)]),
        ([newest(2000, 1000, 985)], [(3600, 2000, 0), (2000, 925, 1000), (925, 0, 0)]),
        # Open for three minutes after its last change; nobody knows until it is given up, half an hour after it.
        ([newest(3000, 2400)], [(3600, 3000, 0), (3000, 2220, 600), (600, 0, 0)]),
        # The next begins within the minute: one episode.
        (
            [newest(2000, 1500, 1490), newest(1440, 1000, 990, episode_since=ago(2000))],
            [(3600, 2000, 0), (2000, 1440, 500), (1440, 930, 1000), (930, 0, 0)],
        ),
        ([newest(2000, 1000, 985, polls=5)], [(3600, 2000, 0), (925, 0, 0)]),
        ([newest(3900, 1000, 985)], [(3600, 925, 2900), (925, 0, 0)]),
    ],
)
def test_a_group_changes_from_the_first_change_until_it_has_settled_for_a_minute(
    found: list[Newest], expected: list[tuple[float, float, float]]
) -> None:
    assert sealed_fields(found) == expected


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((500, 400), [(2000, 1000, 2000)]),
        ((1600, 1500), [(2000, 1600, 2000)]),  # what follows is too short to tell
        ((1900, 1800), [(2000, 1900, 2000), (1200, 1000, 1800)]),
        ((2100, 2010), [(2000, 1000, 2000)]),
    ],
)
def test_after_a_gap_in_readings_it_counts_from_its_end(
    span: tuple[float, float], expected: list[tuple[float, float, float]]
) -> None:
    piece = Piece(ago(2000), ago(1000), ago(2000), ago(1060))
    left = [one for one in read_only([piece], [(ago(span[0]), ago(span[1]))]) if one.begin < one.end]
    assert [(seconds(one.begin), seconds(one.end), seconds(one.since)) for one in left] == expected


def test_of_a_group_that_rests_nothing_is_known_while_it_is_not_read() -> None:
    rest = Piece(ago(2000), ago(1000), ago(2000), ago(2000))
    left = list(read_only([rest], [(ago(1500), ago(1400))]))
    assert [(seconds(one.begin), seconds(one.end)) for one in left] == [(2000, 1500), (1400, 1000)]


@pytest.fixture
def cluster() -> Cluster:
    cluster = a_cluster()
    read_every(15, cluster, 7500)
    judged(*range(0, 3900, 30))
    return cluster


def looping(cluster: Cluster) -> ConsumerGroup:
    """For half an hour, from 50 min ago on; another one rolls out meanwhile, and a third does nothing."""
    group = a_group(cluster, "billing")
    a_crash_loop(group, 3000, until=1200)
    a_rebalance(a_group(cluster, "rolled"), ago(3000), last_change_at=ago(1200), rollout=True, polls=121)
    a_group(cluster, "calm")
    return group


@pytest.mark.django_db
def test_a_rollout_of_today_does_not_leave_a_group_alone_in_the_past() -> None:
    cluster = a_judged_cluster()
    group = a_behind_group(cluster)
    read_every(15, cluster, 1000, 5)
    a_rebalance(group, ago(900), last_change_at=ago(65), settled_at=None, rollout=True, polls=60)
    subject = Subject(SubjectKind.GROUP, cluster="prod", group="billing", group_id=group.pk)
    rule = a_rule("Without end", measure="unsettled_seconds", threshold=600.0)
    assert measured(NOW, [rule]).groups.columns[Measure.UNSETTLED].suppressed(0) is not None
    assert excluded(rule, {0: subject}, NOW) == {}


@pytest.mark.django_db
def test_a_crash_loop_of_half_an_hour_would_have_fired_once(tmp_path: Any, cluster: Cluster) -> None:
    looping(cluster)
    members_told(tmp_path, *ConsumerGroup.objects.all())
    result = asked(tmp_path, RULE)
    # Its last start was 1,240 s ago, and was seen for 15 s: it has settled for a minute at 1,165 s.
    assert told(result) == [("billing", 3000, 2340, 1080)]
    assert result["incidents"][0]["worst_value"] == 1775
    cluster.readings.filter(taken_at__gt=ago(2400), taken_at__lt=ago(1890)).delete()
    result = asked(tmp_path, RULE)
    assert told(result) == [("billing", 1890, 1260, 1080)]
    assert result["unknown_share"] > 0
