"""The shop's facts hold together: each group can show what it is there to show."""

import pytest
from hypothesis import given, strategies as st

from dashboard.demo import shop
from dashboard.demo.shop import Message


def message(keys: str) -> Message:
    return Message(topic="StockMovements", queue_id=2, queue_offset=7, keys=keys, body=b"", reconsume_times=0)


@pytest.mark.parametrize(
    ("number", "reconsume_times", "sent"),
    [
        (1, 0, True),
        (10, 0, False),
        (10, 1, True),
        (11, 0, True),
        (50, 0, False),
        (50, 1, False),
        (50, shop.RETRIES_BEFORE_DEAD_LETTER, False),
        (51, 0, True),
    ],
)
def test_an_email_fails_at_first_or_for_ever_by_its_number(number: int, reconsume_times: int, sent: bool) -> None:
    assert shop.is_sent(f"Notifications-{number}", reconsume_times) is sent


def test_only_the_poison_cannot_be_booked() -> None:
    assert shop.is_booked(message("StockMovements-12")) is True
    assert shop.is_booked(message(shop.POISON_KEY)) is False


@pytest.mark.parametrize(
    ("messages_per_second", "elapsed_seconds", "sent", "due"),
    [
        (4, 0.0, 0, 0),
        (4, 0.24, 0, 0),
        (4, 0.25, 0, 1),
        (4, 10.0, 38, 2),
        (4, 10.0, 40, 0),
        (4, 10.0, 41, 0),
        (0.5, 1.9, 0, 0),
        (0.5, 2.0, 0, 1),
    ],
)
def test_as_many_messages_are_due_as_the_rate_asks(
    messages_per_second: float, elapsed_seconds: float, sent: int, due: int
) -> None:
    assert shop.messages_due(messages_per_second, elapsed_seconds, sent) == due


@given(rate=st.floats(0.1, 50), steps=st.lists(st.floats(0, 5), max_size=30))
def test_a_topic_is_never_ahead_of_its_rate_nor_a_message_behind(rate: float, steps: list[float]) -> None:
    elapsed, sent = 0.0, 0
    for step in steps:
        elapsed += step
        sent += shop.messages_due(rate, elapsed, sent)
        assert rate * elapsed - 1 < sent <= rate * elapsed


def test_billing_falls_behind_by_more_than_ten_seconds_a_minute() -> None:
    billed_per_second = len(shop.BILLING) / shop.BILLING_SECONDS
    seconds_lost_per_second = 1 - billed_per_second / shop.INVOICES.messages_per_second
    assert seconds_lost_per_second * 60 > 10


def test_a_dead_letter_comes_within_two_minutes() -> None:
    seconds = {"s": 1, "m": 60}
    delays = [int(level[:-1]) * seconds[level[-1]] for level in shop.DELAY_LEVELS.split()]
    first_bounce = shop.BOUNCES_EVERY / shop.NOTIFICATIONS.messages_per_second
    # A message's first retry uses level 3 (5.4.0, AbstractSendMessageProcessor.consumerSendMsgBack).
    retries = delays[2 : 2 + shop.RETRIES_BEFORE_DEAD_LETTER]
    assert first_bounce + sum(retries) < 120
    assert len(delays) == 18


def test_every_member_has_a_client_id_of_its_own_and_a_topic_that_exists() -> None:
    members = (*shop.STEADY, *shop.AUDIT, shop.ROAMER)
    assert len({member.instance for member in members}) == len(members)
    assert {member.topic for member in members} == {topic.name for topic in shop.TOPICS}


def test_a_message_tells_its_number_by_its_keys() -> None:
    assert shop.message_number(shop.message_keys("Orders", 1234)) == 1234
