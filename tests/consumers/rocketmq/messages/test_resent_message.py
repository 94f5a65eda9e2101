"""What of a dead letter is sent again."""

import dataclasses

import pytest
from hypothesis import given, strategies as st

from consumers.rocketmq.messages.dead import resent
from consumers.rocketmq.messages.stored import StoredMessage
from consumers.rocketmq.wire.codes import LocalProtocolError

LETTER = StoredMessage(
    topic="%DLQ%billing",
    queue_id=0,
    queue_offset=3,
    physical_offset=900,
    born_ms=1700,
    stored_ms=1800,
    reconsume_times=4,
    sys_flag=0,
    body_bytes=4,
    stored_body=b"body",
    store_host=bytes(8),
    raw_properties=b"",
    flag=5,
)


def properties(raw: bytes, retry_of: str | None = None) -> dict[str, str]:
    made = resent(dataclasses.replace(LETTER, raw_properties=raw), "7", retry_of=retry_of).properties
    return dict(pair.split("\x01") for pair in made.split("\x02") if pair)


def raw(**pairs: str) -> bytes:
    return "".join(f"{name}\x01{value}\x02" for name, value in pairs.items()).encode()


def test_what_its_producer_gave_it_stays() -> None:
    given_to_it = {"KEYS": "a b", "TAGS": "paid", "UNIQ_KEY": "7F01", "colour": "blå", "__SHARDINGKEY": "9"}
    assert properties(raw(**given_to_it)) == given_to_it | {"consumerscope_resend": "7"}


@pytest.mark.parametrize(
    "name",
    ["DELAY", "TIMER_DELIVER_MS", "TRAN_MSG", "POP_CK", "WAIT", "MAX_RECONSUME_TIMES", "INNER_NUM", "REAL_TOPIC"],
)
def test_what_would_make_the_broker_treat_it_otherwise_goes(name: str) -> None:
    assert properties(raw(**{name: "1"})) == {"consumerscope_resend": "7"}


def test_an_older_mark_gives_way_to_its_own() -> None:
    assert properties(raw(consumerscope_resend="3")) == {"consumerscope_resend": "7"}


def test_through_the_retry_topic_it_names_the_topic_it_came_from() -> None:
    kept = properties(raw(RETRY_TOPIC="old", ORIGIN_MESSAGE_ID="7F02"), retry_of="Orders")
    assert kept == {"RETRY_TOPIC": "Orders", "ORIGIN_MESSAGE_ID": "7F02", "consumerscope_resend": "7"}


def test_in_its_own_topic_it_is_an_original() -> None:
    assert properties(raw(RETRY_TOPIC="Orders", ORIGIN_MESSAGE_ID="7F02")) == {"consumerscope_resend": "7"}


@pytest.mark.parametrize(("stored", "sent"), [(0, 0), (0x301, 0x301), (0x1 | 0x2 | 0x8 | 0x30, 0x1), (0xC, 0)])
def test_only_what_tells_how_the_body_is_compressed_stays_of_the_flags(stored: int, sent: int) -> None:
    assert resent(dataclasses.replace(LETTER, sys_flag=stored), "7", retry_of=None).sys_flag == sent


def test_the_body_the_flag_and_the_birth_stay_and_the_attempts_start_anew() -> None:
    made = resent(LETTER, "7", retry_of="Orders")
    assert (made.body, made.flag, made.born_ms, made.reconsume_times) == (b"body", 5, 1700, 0)


@pytest.mark.parametrize("bit", [0x40, 0x80])
def test_a_batch_in_one_message_is_not_sent(bit: int) -> None:
    with pytest.raises(LocalProtocolError, match="batch"):
        resent(dataclasses.replace(LETTER, sys_flag=bit), "7", retry_of=None)


def test_properties_that_cannot_be_sent_unchanged_are_not_sent() -> None:
    with pytest.raises(LocalProtocolError, match="UTF-8"):
        properties(b"k\x01\xff\x02")


plain = st.text(st.characters(exclude_characters="\x01\x02", codec="utf-8"), min_size=1, max_size=8)


@given(st.dictionaries(plain.map("my-".__add__), plain, max_size=6))
def test_any_property_of_a_user_comes_through_unchanged(pairs: dict[str, str]) -> None:
    assert properties(raw(**pairs)) == pairs | {"consumerscope_resend": "7"}
