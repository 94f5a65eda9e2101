"""Filters as words of a query, and what is said of wrong ones."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from consumers.dead_letters.filters import DeadLetterFilters, WrongFilter, filters_of, query_of, words_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXTS = st.none() | st.text(st.characters(exclude_characters="\x00"), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ({}, DeadLetterFilters()),
        ({"key": "", "resent": "", "from": "", "page": "3"}, DeadLetterFilters()),
        ({"key": "order-1", "tag": "paid"}, DeadLetterFilters(key="order-1", tag="paid")),
        ({"from": "2026-03-01T12:00"}, DeadLetterFilters(since=NOON)),
        ({"to": "2026-03-01T13:00:00+01:00"}, DeadLetterFilters(until=NOON)),
        ({"resent": "true"}, DeadLetterFilters(resent=True)),
        ({"resent": "false"}, DeadLetterFilters(resent=False)),
    ],
)
def test_it_reads_words(query: dict[str, str], filters: DeadLetterFilters) -> None:
    assert filters_of(query) == filters


@pytest.mark.parametrize(
    ("query", "name", "sentence"),
    [
        ({"from": "noon"}, "from", "“noon” is not a time"),
        ({"to": "2026-02-31T00:00"}, "to", "is not a time"),
        # In UTC before the first time that can be told.
        ({"from": "0001-01-01T00:00:00+14:00"}, "from", "is not a time"),
        ({"resent": "maybe"}, "resent", "neither true nor false"),
        ({"from": "2026-03-01T12:00", "to": "2026-03-01T12:00"}, "from", "The range is empty"),
        ({"key": "a\x00"}, "key", "contains a character that no message can"),
    ],
)
def test_a_wrong_word_is_refused(query: dict[str, str], name: str, sentence: str) -> None:
    with pytest.raises(WrongFilter, match=sentence) as refused:
        filters_of(query)
    assert refused.value.name == name


@given(
    st.builds(
        DeadLetterFilters,
        since=st.none() | st.just(NOON.astimezone(timezone(timedelta(hours=8)))),
        until=st.none() | st.just(NOON + timedelta(microseconds=1)),
        key=TEXTS,
        key_part=TEXTS,
        tag=TEXTS,
        message_id=TEXTS,
        origin_topic=TEXTS,
        resent=st.none() | st.booleans(),
    )
)
def test_what_was_written_is_read_again(filters: DeadLetterFilters) -> None:
    assert filters_of(words_of(filters)) == filters


def test_a_query_is_written_for_an_address() -> None:
    assert query_of(DeadLetterFilters(key="a b", resent=False)) == "key=a+b&resent=false"
