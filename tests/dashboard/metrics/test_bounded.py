"""GET /metrics: a number that is only a bound stands under a name that says so."""

from typing import Any

import pytest

from consumers.models import Assignment, Client, Cluster, ConsumerGroup, Queue, QueueState
from tests.dashboard.metrics.whole import Scrape, a_whole_group, of_group
from tests.rebalance_rows import read_every, was_watched
from tests.world import a_client, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group(cluster: Cluster) -> ConsumerGroup:
    """Two members hold both queues, each the same message of the first for 15 minutes."""
    group = a_whole_group(cluster)
    queues = [a_queue(cluster, "billing-topic", number) for number in (1, 2)]
    Queue.objects.update(readable=True)
    a_snapshot(group, queues[1], 50, 50)
    for client_id in ("c1", "c2"):
        told = {"subscriptions": [{"topic": "billing-topic", "expression": "*"}], "running_info_at": ago(20)}
        a_client(group, client_id, **told)
        for number, queue in enumerate(queues):
            head: dict[str, Any] = {"head_since": ago(900), "cached_min": 70, "cached_count": 5} if not number else {}
            times = {"seen_since": ago(3600), "last_seen": ago(20)}
            Assignment.objects.create(group=group, queue=queue, client_id=client_id, **head, **times)
    return group


NAMES = ("blocked_seconds", "doubly_owned_queues", "unowned_queues", "expires_in_seconds")


def seen(scrape: Scrape) -> dict[str, float]:
    found = of_group(scrape())
    return {name.removeprefix("group_"): value for name, value in found.items() if name.startswith("group_")}


def test_where_the_value_is_known_a_bound_is_equal_to_it(scrape: Scrape, group: ConsumerGroup) -> None:
    found = seen(scrape)
    assert (found["blocked_seconds"], found["doubly_owned_queues"], found["unowned_queues"]) == (900, 2, 0)
    for name in NAMES:
        assert found[f"{name}_at_{'most' if name.startswith('expires') else 'least'}"] == found[name]


def test_what_others_hold_is_a_lower_bound_while_a_member_is_silent(scrape: Scrape, group: ConsumerGroup) -> None:
    a_client(group, "c3", running_info_at=ago(20), running_info_error="timed out")
    found = seen(scrape)
    assert (found["blocked_seconds_at_least"], found["doubly_owned_queues_at_least"]) == (900, 2)
    assert {"blocked_seconds", "doubly_owned_queues"}.isdisjoint(found)
    # Of each queue an owner has told.
    assert found["unowned_queues"] == 0
    assert {"unknown owners_unknown", "unknown held_messages_unknown"} <= of_group(scrape()).keys()


def test_where_nobody_tells_there_is_no_bound_either(scrape: Scrape, group: ConsumerGroup) -> None:
    Client.objects.update(running_info_error="timed out")
    Assignment.objects.update(head_since=None)
    Assignment.objects.filter(queue__queue_id=2).delete()
    found = seen(scrape)
    assert {name for name in found if name.startswith(("blocked", "doubly", "unowned"))} == set()


def test_a_wait_that_is_a_lower_bound_leaves_at_most_so_much_time(scrape: Scrape, group: ConsumerGroup) -> None:
    QueueState.objects.update(time_lag_kind="at_least")
    found = seen(scrape)
    assert found["expires_in_seconds_at_most"] == 72 * 3600 - 61.5
    assert "expires_in_seconds" not in found
    assert "unknown expiry_unknown" in of_group(scrape())


def test_a_time_lag_that_is_a_lower_bound_says_so_and_is_a_cause(scrape: Scrape, group: ConsumerGroup) -> None:
    group.judged.time_lag_kind = "at_least"
    group.judged.save()
    found = of_group(scrape())
    assert found["group_time_lag_seconds at_least"] == 61.5
    assert found["unknown time_lag_at_least"] == 1


@pytest.mark.parametrize(
    "name", ["rebalances_hour", "rebalances_day", "repeat_events_hour", "redelivered_messages_hour"]
)
def test_what_is_counted_over_a_time_that_was_read_in_part_is_a_lower_bound(
    cluster: Cluster, scrape: Scrape, name: str
) -> None:
    a_whole_group(cluster)
    was_watched(cluster, 86400)
    assert seen(scrape)[name] == seen(scrape)[f"{name}_at_least"] == 0
    read_every(15, cluster, 2400, 600, error="refused")
    found = of_group(scrape())
    assert f"group_{name}" not in found
    assert (found[f"group_{name}_at_least"], found["unknown partly_watched"]) == (0, 1)


def test_members_that_nobody_told_for_long_are_unknown(cluster: Cluster, scrape: Scrape) -> None:
    a_whole_group(cluster)
    ConsumerGroup.objects.update(membership_at=ago(901))
    found = of_group(scrape())
    assert {"group_members", "group_rebalances_day_at_least"}.isdisjoint(found)
    assert found["unknown members_unread"] == 1
