"""For how long members have been changing: known only where they were seen to go on, without a minute of rest."""

from typing import Any

import pytest

from consumers.models import ConsumerGroup, Rebalance
from consumers.rebalances.flapping import Unsettled, unsettled
from tests.rebalance_rows import a_crash_loop, a_rebalance, read_every
from tests.world import NOW, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db
GOES_ON: dict[str, Any] = {"settled_at": None, "last_change_at": ago(30), "polls": 65}


@pytest.fixture
def billing() -> ConsumerGroup:
    cluster = a_cluster()
    read_every(15, cluster, 3000)
    return a_group(cluster)


def found(group: ConsumerGroup) -> Unsettled:
    return unsettled(Rebalance.objects.all(), NOW)[group.pk]


def all_found() -> dict[int, Unsettled]:
    return unsettled(Rebalance.objects.all(), NOW)


def test_a_crash_loop_that_settles_between_two_starts_has_lasted_since_the_first(billing: ConsumerGroup) -> None:
    a_crash_loop(billing, 1000)
    assert found(billing) == Unsettled(ago(1000), 975.0, "", is_rollout=False)


def test_one_that_never_settles_has_lasted_since_its_episode_began(billing: ConsumerGroup) -> None:
    a_rebalance(billing, ago(2800), episode_since=ago(2800), **(GOES_ON | {"last_change_at": ago(1010)}))
    a_rebalance(billing, ago(1000), episode_since=ago(2800), **GOES_ON)
    assert found(billing) == Unsettled(ago(2800), 2770.0, "", is_rollout=False)


@pytest.mark.parametrize(
    "fields",
    [
        {"settled_at": ago(60), "last_change_at": ago(75)},
        {"settled_at": None, "last_change_at": ago(1800)},
    ],
)
def test_it_has_come_to_rest_after_a_minute_or_once_it_was_given_up(
    billing: ConsumerGroup, fields: dict[str, Any]
) -> None:
    a_rebalance(billing, ago(2000), **fields)
    assert all_found() == {}


def test_the_newest_rebalance_alone_tells(billing: ConsumerGroup) -> None:
    """One that was cut never settles; what settled after it is what counts."""
    a_rebalance(billing, ago(2400), **(GOES_ON | {"last_change_at": ago(610)}))
    a_rebalance(billing, ago(600), settled_at=ago(585), episode_since=ago(2400))
    assert all_found() == {}


@pytest.mark.parametrize(
    ("last_change", "is_known"),
    [(180, True), (181, False), (1799, False)],
)
def test_what_was_not_seen_to_agree_for_long_is_not_known(
    billing: ConsumerGroup, last_change: float, is_known: bool
) -> None:
    a_rebalance(billing, ago(2000), **(GOES_ON | {"last_change_at": ago(last_change), "polls": 130}))
    one = found(billing)
    assert (one.seconds is not None, one.reason.startswith("not every member has reported its queues since")) == (
        is_known,
        not is_known,
    )


@pytest.mark.parametrize(
    ("gap", "seconds"),
    [
        ((900, 855), 970.0),  # too short for a minute of rest
        ((900, 825), 795.0),  # it went on for long enough after it
        ((600, 500), None),
        ((1300, 1100), 970.0),  # before it began
    ],
)
def test_a_gap_in_readings_may_hide_that_it_came_to_rest(
    billing: ConsumerGroup, gap: tuple[float, float], seconds: float | None
) -> None:
    a_rebalance(billing, ago(1000), **GOES_ON)
    billing.cluster.readings.filter(taken_at__gt=ago(gap[0]), taken_at__lt=ago(gap[1])).delete()
    one = found(billing)
    assert one.seconds == seconds
    assert one.reason == (
        ""
        if seconds is not None
        else "members not read from 2026-03-14 02:50:00 UTC to 2026-03-14 02:51:45 UTC: "
        "the group may have come to rest meanwhile"
    )


@pytest.mark.parametrize(("broker", "is_known"), [("broker-a", True), ("broker-b", False)])
def test_a_gap_is_that_of_a_broker_with_queues_of_the_group(
    billing: ConsumerGroup, broker: str, is_known: bool
) -> None:
    a_snapshot(billing, a_queue(billing.cluster, broker=broker), 1, 2)
    names = ("broker-a", "broker-b")
    for begin, end, unread in ((1500, 615, ""), (600, 315, "broker-b"), (300, 0, "")):
        brokers = [{"name": name, "read": name != unread, "error": None} for name in names]
        read_every(15, billing.cluster, begin, end, brokers=brokers)
    a_rebalance(billing, ago(1000), **GOES_ON)
    one = found(billing)
    assert (one.seconds is not None) is is_known


def test_readings_that_are_kept_no_more_are_a_gap(billing: ConsumerGroup) -> None:
    billing.cluster.readings.filter(taken_at__lt=ago(300)).delete()
    a_rebalance(billing, ago(1000), **GOES_ON)
    one = found(billing)
    assert one.seconds is None


def test_members_that_are_seldom_asked_may_have_come_to_rest_between(billing: ConsumerGroup) -> None:
    a_rebalance(billing, ago(1000), **(GOES_ON | {"polls": 17}))
    one = found(billing)
    assert (one.seconds, one.reason) == (None, "its members were polled only 17 times within 16 min of changes")


def test_what_was_before_its_episode_tells_nothing_though_another_group_changed_then(billing: ConsumerGroup) -> None:
    a_rebalance(billing, ago(1000), rollout=True, **GOES_ON)
    a_rebalance(a_group(billing.cluster, "stock"), ago(2000), rollout=True, **(GOES_ON | {"polls": 130}))
    billing.cluster.readings.filter(taken_at__gt=ago(1300), taken_at__lt=ago(1100)).delete()
    assert found(billing) == Unsettled(ago(1000), 970.0, "", is_rollout=True)
