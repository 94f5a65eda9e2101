"""Which letters filters choose: rows and streamed messages alike."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.dead_letters.filters import DeadLetterFilters
from consumers.models import ConsumerGroup, DeadLetter, ResendOutcome
from tests.dead_letter_rows import a_letter, a_resend, an_item
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


def offsets(group: ConsumerGroup, **filters: Any) -> list[int]:
    return [letter.offset for letter in DeadLetterFilters(**filters).letters_of(group)]


@pytest.mark.parametrize(
    ("filters", "chosen"),
    [
        ({}, [3, 2, 1]),
        ({"since": NOON + timedelta(seconds=2)}, [3, 2]),
        ({"until": NOON + timedelta(seconds=2)}, [1]),
        ({"key": "order-1"}, [1]),
        ({"key": "order"}, []),
        ({"key_part": "order"}, [2, 1]),
        ({"key_part": "ORDER"}, []),
        ({"tag": "paid"}, [3]),
        ({"message_id": "UNIQ2"}, [2]),
        ({"message_id": "STORED3"}, [3]),
        ({"message_id": "FIRST1"}, [1]),
        ({"origin_topic": "Refund"}, [2]),
    ],
)
def test_it_chooses(billing: ConsumerGroup, filters: dict[str, Any], chosen: list[int]) -> None:
    a_letter(billing, 1, stored_at=NOON + timedelta(seconds=1), keys="blue order-1", origin_message_id="FIRST1")
    a_letter(
        billing, 2, stored_at=NOON + timedelta(seconds=2), keys="order-12", message_id="UNIQ2", origin_topic="Refund"
    )
    a_letter(billing, 3, stored_at=NOON + timedelta(seconds=3), keys=None, tags="paid", stored_id="STORED3")
    assert offsets(billing, **filters) == chosen


@pytest.mark.parametrize("outcome", list(ResendOutcome))
def test_what_may_have_been_sent_counts_as_re_sent(billing: ConsumerGroup, outcome: ResendOutcome) -> None:
    an_item(a_resend(billing), a_letter(billing, 1), outcome=outcome)
    a_letter(billing, 2)
    counted = outcome in ("sending", "sent", "unknown")
    assert offsets(billing, resent=True) == ([1] if counted else [])
    assert offsets(billing, resent=False) == ([2] if counted else [2, 1])


def test_another_message_at_the_same_place_was_not_re_sent(billing: ConsumerGroup) -> None:
    letter = a_letter(billing, 1, stored_id="ANEW")
    an_item(a_resend(billing), letter, stored_id="BEFORE")
    assert offsets(billing, resent=True) == []


TEXTS = st.none() | st.text("aA%_ \\é", max_size=4)
WORDS = st.none() | st.text("aA%_\\é", min_size=1, max_size=2)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(TEXTS, TEXTS, TEXTS, st.integers(0, 3)), max_size=6),
    filters=st.builds(
        DeadLetterFilters,
        since=st.none() | st.integers(0, 3).map(lambda seconds: NOON + timedelta(seconds=seconds)),
        key=WORDS,
        key_part=WORDS,
        tag=WORDS,
        message_id=WORDS,
        origin_topic=WORDS,
        resent=st.none() | st.booleans(),
    ),
)
def test_rows_and_streamed_messages_are_chosen_alike(
    billing: ConsumerGroup, rows: list[tuple[str | None, str | None, str | None, int]], filters: DeadLetterFilters
) -> None:
    DeadLetter.objects.all().delete()
    for offset, (keys, tags, message_id, seconds) in enumerate(rows):
        stored_at = NOON + timedelta(seconds=seconds)
        a_letter(billing, offset, stored_at=stored_at, keys=keys, tags=tags, message_id=message_id, origin_topic=tags)
    streamed = {row.pk for row in DeadLetter.objects.all() if filters.matches(row, was_resent=False)}
    assert {row.pk for row in filters.letters_of(billing)} == streamed
