"""How much of a group's dead letters is listed, and what is said where that is not all or not known."""

from typing import Any

import pytest

from consumers.dead_letters.listing import NOBODY_KNOWS, NOT_COUNTED, NOT_LOOKED, completeness
from consumers.models import ConsumerGroup
from tests.dead_letter_rows import a_look
from tests.world import NOW, a_broker, a_cluster, a_group, a_total, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


def counted(group: ConsumerGroup, messages: int | None) -> None:
    a_total(group, 0, dlq_messages=messages)


def numbers(group: ConsumerGroup) -> tuple[int | None, int | None, Any]:
    found = completeness(group)
    return found.messages, found.indexed_messages, found.looked_at


def test_all_are_listed(billing: ConsumerGroup) -> None:
    counted(billing, 7)
    a_look(billing, 5, 8, looked_at=ago(30))
    a_look(billing, 0, 4, broker="broker-b", looked_at=ago(60))
    assert numbers(billing) == (7, 7, ago(60))
    assert (completeness(billing).unknown_reason, completeness(billing).unknown) == (None, {})


def test_a_group_without_dead_letters_needs_no_look(billing: ConsumerGroup) -> None:
    a_broker(billing.cluster, last_read_at=ago(5))
    counted(billing, 0)
    assert numbers(billing) == (0, 0, ago(5))
    assert completeness(billing).unknown_reason is None


@pytest.mark.parametrize(("messages", "reason"), [(3, NOT_LOOKED), (None, NOBODY_KNOWS)])
def test_before_the_first_look_nothing_is_listed_and_that_is_said(
    billing: ConsumerGroup, messages: int | None, reason: str
) -> None:
    counted(billing, messages)
    assert numbers(billing) == (messages, None, None)
    assert completeness(billing).unknown_reason == reason


def test_a_group_that_was_never_read_is_unknown(billing: ConsumerGroup) -> None:
    assert (numbers(billing), completeness(billing).unknown_reason) == ((None, None, None), NOBODY_KNOWS)


def test_older_letters_than_are_kept_are_counted(billing: ConsumerGroup) -> None:
    counted(billing, 30_000)
    a_look(billing, 10_000, 30_000, min_offset=0)
    assert numbers(billing) == (30_000, 20_000, NOW)
    assert completeness(billing).unknown_reason == "the newest 20,000 of 30,000 are listed"


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (4, "the newest poll counts 4, the last indexing 3: the next indexing adds the rest"),
        (None, NOT_COUNTED),
    ],
)
def test_what_came_since_the_last_look_is_said(billing: ConsumerGroup, messages: int | None, reason: str) -> None:
    counted(billing, messages)
    a_look(billing, 5, 8)
    assert (numbers(billing), completeness(billing).unknown_reason) == ((3, 3, NOW), reason)


def test_a_queue_that_could_not_be_read_makes_the_number_unknown(billing: ConsumerGroup) -> None:
    counted(billing, 3)
    a_look(billing, 5, 8)
    a_look(billing, None, None, broker="broker-b", error="connection refused")
    assert numbers(billing) == (None, 3, NOW)
    assert completeness(billing).unknown_reason == "broker-b: connection refused"
    assert completeness(billing).unknown == {"messages": "broker-b: connection refused"}


def test_a_queue_that_may_not_be_read_is_counted_and_not_listed(billing: ConsumerGroup) -> None:
    counted(billing, 4)
    a_look(billing, None, None, min_offset=5, broker_offset=9, error="it can be written only")
    assert numbers(billing) == (4, None, None)
    assert completeness(billing).unknown == dict.fromkeys(
        ("indexed_messages", "looked_at"), "broker-a: it can be written only"
    )
