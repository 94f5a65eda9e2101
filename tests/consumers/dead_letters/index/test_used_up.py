"""Whether a letter died before its retries were used up."""

from datetime import datetime
from typing import Any

import pytest

from consumers.dead_letters.read_queue import Tries
from consumers.models import ConsumerGroup, GroupBroker
from tests.world import NOW, a_client, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
STORED_AT = ago(100)


@pytest.fixture
def billing() -> ConsumerGroup:
    group = a_group(a_cluster())
    GroupBroker.objects.create(group=group, broker="broker-a", configured=True, retry_max_times=5, changed_at=NOW)
    return group


def member(group: ConsumerGroup, name: str = "c1", most: str | None = "3", **fields: Any) -> None:
    settings = {} if most is None else {"maxReconsumeTimes": most}
    a_client(group, name, **{"orderly": False, "settings": settings, **fields})


def send_result(group: ConsumerGroup, times: int) -> bool | None:
    return Tries.of(group, STORED_AT).sent_by_application("broker-a", times, STORED_AT)


@pytest.mark.parametrize(
    ("most", "times", "expected"),
    [
        ("3", 3, True),
        ("3", 4, False),
        ("3", 1, True),
        ("0", 1, False),
        ("-1", 16, True),
        ("-1", 17, False),
        (None, 5, True),
        (None, 6, False),
        ("many", 6, False),
    ],
)
def test_a_letter_counts_one_try_more_than_its_members_retry(
    billing: ConsumerGroup, most: str | None, times: int, expected: bool
) -> None:
    member(billing, most=most)
    assert send_result(billing, times) is expected


@pytest.mark.parametrize("orderly", [True, None])
def test_it_is_not_known_of_orderly_members_or_those_that_were_not_asked(
    billing: ConsumerGroup, orderly: bool | None
) -> None:
    member(billing, orderly=orderly)
    assert send_result(billing, 2) is None


def test_it_is_not_known_where_members_differ(billing: ConsumerGroup) -> None:
    member(billing, "c1", "3")
    member(billing, "c2", "16")
    assert send_result(billing, 2) is None


def test_it_is_not_known_where_no_member_of_its_time_is(billing: ConsumerGroup) -> None:
    member(billing, "before", seen_since=ago(900), gone_by=ago(161))
    member(billing, "after", seen_since=ago(39))
    assert send_result(billing, 2) is None


def test_members_of_its_time_count_though_they_are_gone(billing: ConsumerGroup) -> None:
    member(billing, "then", "3", seen_since=ago(900), gone_by=ago(90))
    member(billing, "later", "16", seen_since=ago(30))
    assert send_result(billing, 4) is False


def test_a_member_counts_from_its_own_start_though_it_was_seen_later(billing: ConsumerGroup) -> None:
    member(billing, seen_since=ago(10), started_at=ago(200))
    assert send_result(billing, 3) is True


@pytest.mark.parametrize(("seen_since", "expected"), [(ago(40), True), (ago(39), None)])
def test_a_member_may_be_seen_up_to_a_minute_after_it_began(
    billing: ConsumerGroup, seen_since: datetime, expected: bool | None
) -> None:
    member(billing, seen_since=seen_since)
    assert send_result(billing, 3) is expected


def test_nothing_is_known_where_neither_members_nor_the_broker_say_a_number(billing: ConsumerGroup) -> None:
    GroupBroker.objects.all().delete()
    member(billing, most=None)
    assert send_result(billing, 2) is None
