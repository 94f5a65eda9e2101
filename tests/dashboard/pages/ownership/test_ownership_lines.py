from typing import Any

import pytest

from consumers.ownership.rows import AssignmentRow
from consumers.vocabulary.reasons import CodedReason, ReasonCode
from dashboard.pages.ownership.ownership_tables import AssignmentState, counts, queue_lines
from tests.world import ago

A, B = "10.0.0.7@3312", "10.0.0.8@3312"
NO_OWNER = CodedReason(ReasonCode.NO_OWNER, "no member owns it")
NO_OWNER_THEN = CodedReason(ReasonCode.NO_OWNER, "no member owned it: all had reported their queues")
NO_MEMBER = CodedReason(ReasonCode.NO_MEMBER, "the group has no member")
NO_MEMBER_THEN = CodedReason(ReasonCode.NO_MEMBER, "the group had no member")


def a_row(
    queue_id: int, owner: str | None, expected: str | None, why: str = "", unexpected: str = "", topic: str = "Orders"
) -> AssignmentRow:
    times: dict[str, Any] = dict.fromkeys(("seen_since", "last_seen", "gone_by"))
    if owner is not None:
        times |= {"seen_since": ago(600), "last_seen": ago(5)}
    place: dict[str, Any] = {"topic": topic, "broker": "broker-a", "queue_id": queue_id}
    reasons = {name: reason for name, reason in (("owner", why), ("expected_owner", unexpected)) if reason}
    return AssignmentRow(**place, **times, owner=owner, expected_owner=expected, unknown=reasons)


@pytest.mark.parametrize(
    ("rows", "verdict", "why"),
    [
        ([a_row(0, A, A)], AssignmentState.EXPECTED, ""),
        ([a_row(0, A, B)], AssignmentState.OTHER, ""),
        ([a_row(0, A, A), a_row(0, B, A)], AssignmentState.SEVERAL, ""),
        ([a_row(0, A, None, "", "two strategies")], AssignmentState.OWNED, "two strategies"),
        ([a_row(0, None, A, NO_OWNER)], AssignmentState.NOBODY, ""),
        ([a_row(0, None, A, NO_OWNER_THEN)], AssignmentState.NOBODY, ""),
        ([a_row(0, None, None, NO_OWNER, "it falls to c")], AssignmentState.NOBODY, "it falls to c"),
        ([a_row(0, None, None, NO_MEMBER)], AssignmentState.ABSENT, NO_MEMBER),
        ([a_row(0, None, None, NO_MEMBER_THEN)], AssignmentState.ABSENT, NO_MEMBER_THEN),
        ([a_row(0, None, A, "not sampled")], AssignmentState.UNKNOWN, "not sampled"),
    ],
)
def test_a_queue_is_compared_with_what_is_expected_of_it(
    rows: list[AssignmentRow], verdict: AssignmentState, why: str
) -> None:
    [line] = queue_lines(rows)
    assert (line.verdict, line.why) == (verdict, why)


def test_what_wants_attention_stands_first_and_retries_last() -> None:
    rows = [
        a_row(0, A, A, topic="%RETRY%billing"),
        a_row(0, A, A),
        a_row(1, A, B),
        a_row(2, None, B, NO_OWNER),
        a_row(3, None, B, "not sampled"),
        a_row(4, A, A),
        a_row(4, B, A),
    ]
    places = [(line.topic, line.queue_id) for line in queue_lines(rows)]
    assert places == [("Orders", n) for n in (4, 2, 1, 3, 0)] + [("%RETRY%billing", 0)]


def test_queues_are_counted_by_verdict_the_good_ones_first() -> None:
    rows = [a_row(0, A, A), a_row(1, A, A), a_row(2, None, B, NO_OWNER), a_row(3, A, B)]
    assert [(str(words), n) for _verdict, words, n in counts(queue_lines(rows))] == [
        ("as expected", 2),
        ("not as expected", 1),
        ("no owner", 1),
    ]


def test_each_owner_of_a_queue_with_several_is_named() -> None:
    [line] = queue_lines([a_row(4, A, A), a_row(4, B, A)])
    assert [row.owner for row in line.owners] == [A, B]
