"""Copies of one message become its attempts: each later copy proves that an earlier one was delivered and sent back."""

import pytest
from hypothesis import given, strategies as st

from consumers.messages.joined import JoinedMessage, QueuePlace, SendBack, StoredCopy, joined
from tests.consumers.messages.made_copies import a_copy, at


def attempts(*copies: StoredCopy) -> list[tuple[str, int, list[SendBack]]]:
    [message] = joined(copies)
    return [(one.kind.value, one.copy.reconsume_times, list(one.send_backs)) for one in message.attempts]


def back(seconds: float, *, exact: bool = True, dead: bool = False, missed: int = 0) -> SendBack:
    return SendBack(at(seconds), exact, dead, missed)


CASES = [
    ("a message that was never sent back", [a_copy("original", 0)], [("original", 0, [])]),
    (
        "the copy on the delay level says when it was sent back, and is not an attempt of its own",
        [a_copy("original", 0), a_copy("delayed", 5, 1), a_copy("retry", 15, 1)],
        [("original", 0, [back(5)]), ("retry", 1, [])],
    ),
    (
        "without that copy it was sent back by the time its retry was stored",
        [a_copy("original", 0), a_copy("retry", 15, 1)],
        [("original", 0, [back(15, exact=False)]), ("retry", 1, [])],
    ),
    (
        "what waits on a delay level is the next attempt",
        [a_copy("original", 0), a_copy("delayed", 5, 1)],
        [("original", 0, [back(5)]), ("delayed", 1, [])],
    ),
    (
        "a dead letter ends the last attempt",
        [a_copy("original", 0), a_copy("delayed", 5, 1), a_copy("retry", 15, 1), a_copy("dead", 16, 2)],
        [("original", 0, [back(5)]), ("retry", 1, [back(16, dead=True)]), ("dead_letter", 2, [])],
    ),
    (
        "a dead letter with more reconsume times than copies tells of the others",
        [a_copy("original", 0), a_copy("dead", 60, 17)],
        [("original", 0, [back(60, dead=True, missed=16)]), ("dead_letter", 17, [])],
    ),
    (
        "one copy that was sent back twice was delivered twice",
        [a_copy("original", 0), a_copy("delayed", 5, 1), a_copy("delayed", 8, 1), a_copy("retry", 15, 1)],
        [("original", 0, [back(5), back(8)]), ("delayed", 1, []), ("retry", 1, [])],
    ),
    (
        "of two retries of a redelivered message each was sent back once",
        [
            a_copy("original", 0),
            *(a_copy("retry", 15 + one, 1) for one in range(2)),
            a_copy("dead", 17, 2),
            a_copy("dead", 18, 2),
        ],
        [
            ("original", 0, [back(15, exact=False), back(16, exact=False)]),
            ("retry", 1, [back(17, dead=True)]),
            ("retry", 1, [back(18, dead=True)]),
            ("dead_letter", 2, []),
            ("dead_letter", 2, []),
        ],
    ),
    (
        "a retry that a redelivery made later is none that failed more often",
        [
            a_copy("original", 0),
            a_copy("retry", 15, 1),
            a_copy("retry", 25, 2),
            a_copy("retry", 26, 1),
            a_copy("dead", 27, 3),
            a_copy("retry", 36, 2),
            a_copy("dead", 37, 3),
        ],
        [
            ("original", 0, [back(15, exact=False), back(26, exact=False)]),
            ("retry", 1, [back(25, exact=False)]),
            ("retry", 2, [back(27, dead=True)]),
            ("retry", 1, [back(36, exact=False)]),
            ("dead_letter", 3, []),
            ("retry", 2, [back(37, dead=True)]),
            ("dead_letter", 3, []),
        ],
    ),
    (
        "what was resent to the retry topic begins anew",
        [
            a_copy("original", 0),
            a_copy("dead", 5, 1),
            a_copy("retry", 100, 0, resent=True),
            a_copy("delayed", 110, 1),
        ],
        [("original", 0, [back(5, dead=True)]), ("dead_letter", 1, []), ("retry", 0, [back(110)]), ("delayed", 1, [])],
    ),
    (
        "a producer's delay is over once the original is stored",
        [a_copy("delayed", 0, real_topic="Orders"), a_copy("original", 10)],
        [("original", 0, [])],
    ),
    (
        "two brokers' clocks may differ",
        [a_copy("original", 3), a_copy("retry", 1, 1)],
        [("retry", 1, []), ("original", 0, [back(1, exact=False)])],
    ),
]


@pytest.mark.parametrize(("copies", "told"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_copies_are_attempts(copies: list[StoredCopy], told: list[tuple[str, int, list[SendBack]]]) -> None:
    assert attempts(*copies) == told
    assert attempts(*reversed(copies)) == told


@st.composite
def histories(draw: st.DrawFn) -> list[StoredCopy]:
    """Copies of a message that members fail and redeliver in any order, every one of them found."""
    copies, most = [a_copy("original", 0)], 3
    for second in range(1, draw(st.integers(1, 12))):
        failing = draw(st.sampled_from(copies))
        if failing.reconsume_times < most:
            times = failing.reconsume_times + 1
            copies.append(a_copy("dead" if times == most else "retry", second, times))
    return copies


@given(histories())
def test_what_made_a_copy_was_delivered_once_more_and_nothing_else_was(copies: list[StoredCopy]) -> None:
    [message] = joined(copies)
    backs = [(one.copy.reconsume_times, back) for one in message.attempts for back in one.send_backs]
    assert sorted(times + 1 for times, _ in backs) == sorted(one.reconsume_times for one in copies[1:])
    assert not message.orphans
    assert not any(back.missed for _, back in backs)


def test_a_send_back_whose_earlier_copies_are_gone_is_kept() -> None:
    [message] = joined([a_copy("dead", 60, 3)])
    assert message.orphans == (back(60, dead=True, missed=2),)


def test_one_copy_that_was_found_twice_is_one() -> None:
    assert attempts(a_copy("original", 0), a_copy("original", 0)) == [("original", 0, [])]


def test_other_ids_are_other_messages_the_first_stored_first() -> None:
    messages = joined([a_copy("original", 9, message_id="U2"), a_copy("original", 1)])
    assert [message.identity for message in messages] == ["U1", "U2"]


def test_without_the_producers_id_copies_are_joined_by_the_id_of_the_first() -> None:
    first = a_copy("original", 0, message_id=None, stored_id="A")
    retry = a_copy("retry", 9, 1, message_id=None, origin_message_id="A")
    assert len(joined([first, retry])[0].attempts) == 2


@pytest.mark.parametrize(
    ("copies", "topic"),
    [
        ([a_copy("original", 0, place=QueuePlace("Bills", "broker-a", 0))], "Bills"),
        ([a_copy("dead", 0, 1)], "Orders"),
        ([a_copy("dead", 0, 1, origin_topic=None)], None),
    ],
)
def test_the_original_topic_is_that_of_the_original_or_what_copies_name(
    copies: list[StoredCopy], topic: str | None
) -> None:
    message: JoinedMessage = joined(copies)[0]
    assert message.origin_topic == topic
