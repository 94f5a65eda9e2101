"""Which groups are looked into, and in which order."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.dead_letters.index import IndexLimits, due_groups
from consumers.models import Cluster, ConsumerGroup, GroupBroker
from tests.dead_letter_rows import a_look
from tests.world import NOW, a_cluster, a_group, a_total, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def prod() -> Cluster:
    return a_cluster()


def group(cluster: Cluster, name: str, messages: int | None, **fields: Any) -> ConsumerGroup:
    made = a_group(cluster, name, **fields)
    a_total(made, 0, dlq_messages=messages)
    return made


def due(cluster: Cluster, now: Any = NOW, **rules: Any) -> list[str]:
    return [group.name for group in due_groups(cluster, IndexLimits(**rules), now)]


def test_a_group_without_dead_letters_is_left_alone(prod: Cluster) -> None:
    group(prod, "quiet", 0)
    assert due(prod) == []


def test_a_group_that_was_never_looked_into_is_due(prod: Cluster) -> None:
    group(prod, "billing", 3)
    assert due(prod) == ["billing"]


@pytest.mark.parametrize(("messages", "is_due"), [(3, False), (4, True), (2, True), (0, True), (None, False)])
def test_a_group_is_due_again_when_it_holds_another_number(prod: Cluster, messages: int | None, is_due: bool) -> None:
    a_look(group(prod, "billing", messages), 5, 8)
    assert (due(prod) == ["billing"]) is is_due


@pytest.mark.parametrize(("seconds", "is_due"), [(599, False), (600, True)])
def test_it_is_looked_at_again_after_a_while_for_as_many_may_have_come_as_went(
    prod: Cluster, seconds: int, is_due: bool
) -> None:
    a_look(group(prod, "billing", 3), 5, 8)
    assert (due(prod, NOW + timedelta(seconds=seconds)) == ["billing"]) is is_due


@pytest.mark.parametrize(
    ("look", "is_due"),
    [
        ({}, False),
        ({"indexed_from": 6}, True),
        ({"indexed_to": 7}, True),
        ({"error": "refused"}, True),
        ({"indexed_from": None, "indexed_to": None}, True),
    ],
)
def test_what_is_not_indexed_yet_is_due(prod: Cluster, look: dict[str, Any], is_due: bool) -> None:
    a_look(group(prod, "billing", 3), 5, 8, **{"min_offset": 5, "broker_offset": 8, **look})
    assert (due(prod) == ["billing"]) is is_due


def test_what_is_beyond_the_kept_ones_is_not_due(prod: Cluster) -> None:
    a_look(group(prod, "billing", 100), 90, 100, min_offset=0)
    assert (due(prod, kept=10), due(prod, kept=11)) == ([], ["billing"])


@pytest.mark.parametrize("permission", [None, 6])
def test_while_a_broker_is_silent_those_with_a_topic_of_dead_letters_are_due(
    prod: Cluster, permission: int | None
) -> None:
    billing = group(prod, "billing", None)
    GroupBroker.objects.create(
        group=billing, broker="broker-a", configured=True, dlq_permission=permission, changed_at=NOW
    )
    assert due(prod) == (["billing"] if permission else [])


def test_the_longest_ago_comes_first_and_those_that_failed_last(prod: Cluster) -> None:
    a_look(group(prod, "failed", 4), 5, 8, error="refused", looked_at=ago(900))
    a_look(group(prod, "fresh", 4), 5, 8, looked_at=ago(10))
    a_look(group(prod, "old", 4), 5, 8, looked_at=ago(100))
    group(prod, "never", 4)
    assert due(prod) == ["never", "old", "fresh", "failed"]


def test_those_that_failed_change_places_from_run_to_run(prod: Cluster) -> None:
    for name in ("one", "two", "three"):
        a_look(group(prod, name, 4), 5, 8, error="refused")
    orders = {tuple(due(prod, NOW + timedelta(seconds=seconds))) for seconds in range(3)}
    assert {order[0] for order in orders} == {"one", "two", "three"}


def test_other_clusters_and_groups_of_rocketmqs_own_are_left_alone(prod: Cluster) -> None:
    group(a_cluster("other"), "billing", 4)
    group(prod, "TOOLS_CONSUMER", 4, kind="system")
    assert due(prod) == []


def test_it_takes_two_queries_however_many_groups_there_are(prod: Cluster, django_assert_num_queries: Any) -> None:
    for number in range(20):
        a_look(group(prod, f"group-{number}", 4), 5, 8)
    with django_assert_num_queries(2):
        assert len(due(prod)) == 20
