"""A group's sums: one unknown queue makes the lag unknown, and the known sum stands beside it."""

import numpy as np
import pytest

from consumers.polling.record.snapshots import NULL, NUMBERS, Coded, Columns
from consumers.polling.record.totals import GroupKinds, totals
from consumers.vocabulary.states import UnknownReason


def columns(*rows):
    """(group, queue, consumer, broker, kind, reason), and the min offset and first_stored_us where they are known"""
    names = ("consumer_offset", "broker_offset", "min_offset", "first_stored_us")
    known = [dict(zip(names, (*row[2:4], *row[6:8]), strict=False)) for row in rows]
    values = [[NULL if (value := one.get(name)) is None else value for name in NUMBERS] for one in known]
    return Columns(
        np.array([row[0] << 32 | row[1] for row in rows], np.int64),
        np.array(values, np.int64).reshape(-1, len(NUMBERS)),
        Coded.of(row[5] for row in rows),
        Coded.of("broker-a" for _ in rows),
        Coded.of(row[4] for row in rows),
    )


KNOWN = (1, 1, 7, 10, "normal", None)


@pytest.mark.parametrize(
    ("sentence", "rows", "expected"),
    [
        ("lag is the sum over queues", [KNOWN, (1, 2, 0, 5, "normal", None)], (8, 8, 0, 0, None)),
        ("the retry topic counts", [KNOWN, (1, 2, 0, 5, "retry", None)], (8, 8, 0, 0, None)),
        ("the dead letters do not", [KNOWN, (1, 2, 0, 5, "dlq", None)], (3, 3, 0, 0, None)),
        ("one unknown queue", [KNOWN, (1, 2, 0, 5, "normal", "silent")], (None, 3, 1, 0, "silent")),
        (
            "an anomaly is unknown",
            [KNOWN, (1, 2, 9, 5, "normal", UnknownReason.CONSUMER_AHEAD)],
            (None, 3, 1, 0, UnknownReason.CONSUMER_AHEAD),
        ),
        (
            "never committed is apart",
            [KNOWN, (1, 2, None, 5, "normal", UnknownReason.NEVER_COMMITTED)],
            (3, 3, 0, 1, None),
        ),
        ("a deleted topic is no lag", [KNOWN, (1, 2, 5, None, "normal", UnknownReason.TOPIC_GONE)], (3, 3, 0, 0, None)),
        (
            "nothing but never",
            [(1, 2, None, 5, "normal", UnknownReason.NEVER_COMMITTED)],
            (None, None, 0, 1, UnknownReason.NEVER_COMMITTED),
        ),
        ("nothing at all", [], (None, None, 0, 0, UnknownReason.NO_OFFSETS)),
        ("nothing known", [(1, 1, 7, 10, "normal", "silent")], (None, None, 1, 0, "silent")),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else None,
)
def test_totals(sentence, rows, expected):
    total = totals(columns(*rows), [1], {})[1]
    lag, at_least, unknown, never, reason = expected
    assert (total.lag_messages, total.lag_messages_at_least) == (lag, at_least), sentence
    assert (total.unknown_queues, total.never_committed_queues, total.unknown_reason) == (unknown, never, reason)


def test_groups_do_not_mix():
    both = totals(columns(KNOWN, (2, 1, 0, 100, "normal", None)), [1, 2], {})
    assert (both[1].lag_messages, both[2].lag_messages) == (3, 100)


def test_dead_letters_that_were_not_read_are_null():
    assert totals(columns(KNOWN), [1], {})[1].dlq_messages is None
    assert totals(columns(KNOWN), [1], {1: 4})[1].dlq_messages == 4


@pytest.mark.parametrize(
    ("sentence", "rows", "expected"),
    [
        ("nothing has expired", [(*KNOWN, 0)], 0),
        ("below the min offset", [(*KNOWN, 9), (1, 2, 0, 5, "retry", None, 4)], 2 + 4),
        ("a queue with lag whose min offset was not read", [(*KNOWN, 9), (1, 2, 0, 5, "normal", None)], None),
        ("a level queue can have lost nothing", [(*KNOWN, 9), (1, 2, 5, 5, "normal", None)], 2),
        ("a queue is not known", [(*KNOWN, 9), (1, 2, 0, 5, "normal", "silent", 0)], None),
        (
            "a queue without an offset has no part in it",
            [(*KNOWN, 9), (1, 2, None, 5, "normal", UnknownReason.NEVER_COMMITTED)],
            2,
        ),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else None,
)
def test_expired(sentence, rows, expected):
    assert totals(columns(*rows), [1], {})[1].expired_messages == expected, sentence


@pytest.mark.parametrize(
    ("sentence", "rows", "expected"),
    [
        ("of one queue", [(*KNOWN, 0, 30)], 30),
        ("the earliest of the queues", [(*KNOWN, 0, 30), (1, 2, 0, 5, "retry", None, 0, 20)], 20),
        ("one queue's is not known", [(*KNOWN, 0, 30), (1, 2, 0, 5, "normal", None, 0, None)], None),
        ("a level queue has none", [(*KNOWN, 0, 30), (1, 2, 5, 5, "normal", None, 0, None)], 30),
        ("of dead letters", [(*KNOWN, 0, 30), (1, 2, 0, 5, "dlq", None, 0, 20)], 30),
        ("without a lag", [(1, 2, 5, 5, "normal", None, 0, None)], None),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else None,
)
def test_when_the_first_unconsumed_message_was_stored(sentence, rows, expected):
    assert totals(columns(*rows), [1], {})[1].first_stored_us == expected, sentence


def test_queues_of_retired_topics_are_counted_apart():
    rows = columns(KNOWN, (1, 2, 0, 500, "normal", "silent"), (2, 2, 0, 9, "normal", None))
    found = totals(rows, [1, 2], {}, kinds=GroupKinds(retired=np.array([1 << 32 | 2])))
    assert (found[1].lag_messages, found[1].queues, found[1].retired_queues) == (3, 1, 1)
    assert (found[2].lag_messages, found[2].retired_queues) == (9, 0)


def test_a_group_of_retired_topics_only_has_no_lag():
    found = totals(columns(KNOWN), [1], {}, kinds=GroupKinds(retired=np.array([1 << 32 | 1])))[1]
    assert (found.lag_messages, found.unknown_queues, found.unknown_reason) == (None, 0, UnknownReason.RETIRED_ONLY)


def test_progress_that_is_kept_elsewhere_has_no_lag_here():
    rows = columns((1, 1, 7, 10, "normal", UnknownReason.OUTSIDE_STORE, 9))
    found = totals(rows, [1], {}, kinds=GroupKinds(outside=frozenset({(1, "billing")})))[1]
    assert (found.lag_messages, found.lag_messages_at_least, found.expired_messages) == (None, None, None)
    assert (found.unknown_queues, found.unknown_reason) == (0, UnknownReason.OUTSIDE_STORE)


BEHIND = {"broker-a": 67_108_864}
BOUND = '{"code": "dispatch_behind", "broker": "broker-a", "behind_bytes": 67108864}'


@pytest.mark.parametrize(
    ("sentence", "rows", "expected"),
    [
        ("a lag is a lower bound", [KNOWN], (None, 3, 1, BOUND)),
        ("no lag is one too", [(1, 1, 7, 7, "normal", None)], (None, 0, 1, BOUND)),
        ("an unknown queue gives the reason", [KNOWN, (1, 2, 0, 5, "normal", "silent")], (None, 3, 2, "silent")),
        (
            "a queue without a lag by its nature has no bound",
            [(1, 2, None, 5, "normal", UnknownReason.NEVER_COMMITTED)],
            (None, None, 0, UnknownReason.NEVER_COMMITTED),
        ),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else None,
)
def test_on_a_broker_that_is_behind_with_its_dispatch(sentence, rows, expected):
    total = totals(columns(*rows), [1], {}, behind=BEHIND)[1]
    found = (total.lag_messages, total.lag_messages_at_least, total.unknown_queues, total.unknown_reason)
    assert found == expected, sentence


def test_a_broker_that_is_behind_makes_no_lag_on_another_a_bound():
    assert totals(columns(KNOWN), [1], {}, behind={"broker-b": 67_108_864})[1].lag_messages == 3


def test_expired_messages_are_known_on_a_broker_that_is_behind():
    assert totals(columns((1, 1, 7, 10, "normal", None, 9)), [1], {}, behind=BEHIND)[1].expired_messages == 2
