"""A message that a member holds, looked up at its broker: what is asked, what it says, and why it says nothing."""

import struct
from datetime import UTC, datetime

import pytest

from consumers.polling.heads import Head, HeadAnswer, look_up
from consumers.words.reasons import stored_words
from tests.consumers.polling.peer import ask, found, offset_answer, stored
from tests.readings import T0

STORED_MS = 1_772_330_400_250
AT = datetime(2026, 3, 1, 2, 0, 0, 250_000, UTC)
HEAD = Head(1, 2, "c1", 4, T0, "Orders", "broker-a", 3)
LENGTH = struct.Struct(">h")


def said(message, *pairs):
    """The message with these properties."""
    properties = "".join(f"{name}\x01{value}\x02" for name, value in pairs).encode()
    content = message[4 : -LENGTH.size] + LENGTH.pack(len(properties)) + properties
    return struct.pack(">i", len(content) + 4) + content


def answer_of(answers):
    async def use(admins):
        return await look_up(admins, [HEAD], 1.0)

    (answer,), asked = ask(answers, use)
    return answer, asked


def test_a_message_says_what_it_is():
    pairs = [("UNIQ_KEY", "7F01"), ("KEYS", "order-7"), ("TAGS", "paid"), ("RETRY_TOPIC", "Sales")]
    answer, asked = answer_of({31: offset_answer(4), 11: found(said(stored(4, STORED_MS), *pairs))})
    assert answer == HeadAnswer("7F01", "Sales", "order-7", "paid", 0, 2, AT, AT)
    assert [(code, fields.get("consumerGroup"), fields.get("maxMsgNums")) for code, fields in asked] == [
        (31, None, None),
        (11, "TOOLS_CONSUMER", "1"),
    ]


def test_a_message_without_an_id_of_its_own_goes_by_its_place():
    answer, _ = answer_of({31: offset_answer(0), 11: found(stored(4, STORED_MS))})
    assert answer == HeadAnswer("0" * 32, None, None, None, 0, 2, AT, AT)


def test_nul_in_a_key_does_not_reach_the_database():
    answer, _ = answer_of({31: offset_answer(0), 11: found(said(stored(4, STORED_MS), ("KEYS", "a\x00b")))})
    assert answer.keys == "a\ufffdb"


def test_a_message_that_has_expired_is_not_asked_for():
    answer, asked = answer_of({31: offset_answer(5)})
    assert stored_words(answer.error) == "the message at 4 has expired: the oldest is at 5"
    assert [code for code, _ in asked] == [31]


@pytest.mark.parametrize(
    ("pulled", "error"),
    [
        (found(stored(6, STORED_MS)), "the message at 4 is gone: the broker continues at 6"),
        ({"code": 21, "ext_fields": {"nextBeginOffset": "7"}}, "the message at 4 is gone: the broker continues at 7"),
        ({"code": 19, "ext_fields": {"nextBeginOffset": "4"}}, "the broker has no message at 4 yet"),
        (found(stored(4, 2**62)), "the message at 4 has a time that is in no calendar"),
    ],
)
def test_what_is_not_this_message_is_an_error(pulled, error):
    answer, _ = answer_of({31: offset_answer(0), 11: pulled})
    assert answer == HeadAnswer(error=answer.error)
    assert stored_words(answer.error) == error


def test_a_refusal_is_the_error_of_the_head():
    answer, _ = answer_of({31: offset_answer(0), 11: {"code": 16, "remark": "no permission"}})
    assert answer.message_id is None
    assert "no permission" in answer.error
