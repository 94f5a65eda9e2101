"""The rule of read-back, case by case: each is what was read from which second on, and when it is told what."""

from typing import Any

import pytest

from consumers.models import ResetMethod, ResetOutcome
from consumers.resets.planning.gather import Membership
from tests.consumers.resets.read_back.cases import AHEAD, BEHIND, NOBODY, ONE, TARGET, Readings, members, outcome

CONFIRMED, UNCHANGED = ResetOutcome.CONFIRMED, ResetOutcome.UNCHANGED
OVERWRITTEN, UNKNOWN = ResetOutcome.OVERWRITTEN, ResetOutcome.UNKNOWN
SERVER, COMMIT, CLIENT = ResetMethod.SERVER, ResetMethod.COMMIT, ResetMethod.CLIENT
NOTHING = ResetMethod.NOTHING
BACK, ON = {"before": AHEAD}, {"before": BEHIND}
NEVER = {"before": None}
SILENT = Membership(None, "broker-b: it is silent")
AT: Readings = [(0, TARGET)]

# What it is, how it was written, what was read, and by the second what is said: the one before says nothing yet.
CASES: list[tuple[str, dict[str, Any], Readings, int, ResetOutcome]] = [
    ("nobody there, stands at the target", {}, AT, 12, CONFIRMED),
    ("nobody there, forwards", ON, AT, 12, CONFIRMED),
    ("nobody there, never committed before", NEVER, AT, 12, CONFIRMED),
    ("nobody there, stands where it was", {}, [(0, AHEAD)], 12, UNCHANGED),
    ("nobody there, no answer, stands where it was", {"answered": False}, [(0, AHEAD)], 30, UNCHANGED),
    ("nobody there, and another offset", {}, [(0, TARGET), (3, 9500)], 15, OVERWRITTEN),
    ("nobody there, and an offset in between", {}, [(0, TARGET), (3, 5000)], 15, OVERWRITTEN),
    ("nobody there, no answer, another offset", {"answered": False}, [(0, 9500)], 60, UNKNOWN),
    ("nobody there, its broker forgot it", {}, [(0, TARGET), (3, "silent"), (9, AHEAD)], 21, UNCHANGED),
    ("nobody there, its commit is gone", {}, [(0, TARGET), (3, None)], 15, OVERWRITTEN),
    ("nobody there, no answer, no commit as before", {**NEVER, "answered": False}, [(0, None)], 30, UNCHANGED),
    ("a member, stands at the target", {"then": ONE}, AT, 25, CONFIRMED),
    ("a member, forwards, stands at the target", {**ON, "then": ONE}, AT, 25, CONFIRMED),
    ("members commit every 30 s", {"then": ONE, "commit_seconds": 30.0}, AT, 50, CONFIRMED),
    ("a member consumes again", {"then": ONE}, [(0, TARGET), (5, 4300), (10, 4600)], 17, CONFIRMED),
    ("a member consumed all of it again", {"then": ONE}, [(0, TARGET), (5, 4300), (10, 9100)], 17, CONFIRMED),
    ("a member consumed it between two readings", {"then": ONE}, [(0, TARGET), (5, 9100)], 17, CONFIRMED),
    ("a member skips", {**ON, "then": ONE}, [(0, TARGET), (5, 4100)], 17, CONFIRMED),
    ("an old member takes 10 s", {"then": ONE}, [(0, TARGET), (2, AHEAD), (12, TARGET), (17, 4100)], 29, CONFIRMED),
    ("a member goes on before the target", {**ON, "then": ONE}, [(0, TARGET), (2, 1100)], 14, OVERWRITTEN),
    ("set further back by another", {"then": ONE}, [(0, TARGET), (2, 300)], 14, OVERWRITTEN),
    ("no answer, goes on where it was", {**ON, "then": ONE, "answered": False}, [(0, 1000), (5, 1100)], 42, UNCHANGED),
    ("no answer, came there", {**ON, "then": ONE, "answered": False}, [(0, 1000), (5, TARGET)], 60, UNKNOWN),
    ("no answer, and further back", {**ON, "then": ONE, "answered": False}, [(0, 300)], 60, UNKNOWN),
    ("no answer, left the target", {**ON, "then": ONE, "answered": False}, [(0, TARGET), (3, 1000)], 60, UNKNOWN),
    ("no answer, never set back, or consumed again", {"then": ONE, "answered": False}, [(0, AHEAD)], 60, UNKNOWN),
    ("two owners commit in turn", {"then": ONE}, [(5 * n, (9100, 4100)[n % 2]) for n in range(13)], 60, UNKNOWN),
    ("its broker was away meanwhile", {"then": ONE}, [(0, TARGET), (2, "silent"), (5, 9100)], 60, UNKNOWN),
    ("its broker lost it", {"then": ONE}, [(0, TARGET), (2, "-"), (5, 8900), (9, 9100)], 60, UNKNOWN),
    ("told members begin there", {"method": CLIENT, "then": ONE}, [(0, AHEAD), (10, TARGET)], 22, CONFIRMED),
    ("told, and consumed", {"method": CLIENT, "then": ONE}, [(0, AHEAD), (10, TARGET), (12, 9100)], 24, CONFIRMED),
    ("told, still where it was", {"method": CLIENT, "then": ONE}, [(0, AHEAD)], 60, UNKNOWN),
    ("told to skip", {**ON, "method": CLIENT, "then": ONE}, [(0, 1000), (10, TARGET)], 22, CONFIRMED),
    ("told to skip, and does not", {**ON, "method": CLIENT, "then": ONE}, [(0, 1000), (20, 1010)], 27, UNCHANGED),
    ("told to skip, passed by", {**ON, "method": CLIENT, "then": ONE}, [(0, 1000), (10, 4100)], 60, UNKNOWN),
    ("told to skip, away", {**ON, "method": CLIENT, "then": ONE}, [(0, 1000), (3, "-"), (10, TARGET)], 60, UNKNOWN),
    ("told, and once between", {"method": CLIENT, "then": ONE}, [(0, AHEAD), (20, 5000), (25, AHEAD)], 60, UNKNOWN),
    ("told to skip, came there", {**ON, "method": CLIENT, "then": ONE}, [(0, 3000), (5, TARGET)], 60, UNKNOWN),
    ("who was there commits over it", {"method": COMMIT, "then": ONE}, [(0, TARGET), (3, 9001)], 15, OVERWRITTEN),
    ("it stood there already", {"before": TARGET, "method": NOTHING}, AT, 0, CONFIRMED),
    ("it stood there, and has gone on", {"before": TARGET, "method": NOTHING}, [(0, 4100)], 0, CONFIRMED),
    ("it stood there, and went back", {"before": TARGET, "method": NOTHING}, [(0, 3900)], 0, OVERWRITTEN),
    ("it stood there, and was told", {"before": TARGET, "method": CLIENT, "then": ONE}, [(0, 4100)], 12, CONFIRMED),
    ("it cannot be read", {"then": ONE}, [(0, "it is silent")], 60, UNKNOWN),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "readings", "second", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_it_says_what_became_of_a_queue_as_soon_as_that_is_known(
    given: dict[str, Any], readings: Readings, second: int, expected: ResetOutcome
) -> None:
    said = outcome(readings, second, **given)

    assert said is not None
    assert said[0] is expected
    assert second == 0 or outcome(readings, second - 1, **given) is None


JUMP: Readings = [(0, TARGET), (10, 9100)]


@pytest.mark.parametrize(
    ("method", "then", "seen", "expected"),
    [
        (SERVER, NOBODY, [(0, members()), (9, members("m1"))], CONFIRMED),
        (COMMIT, NOBODY, [(0, members()), (9, members("m1"))], CONFIRMED),
        (COMMIT, NOBODY, [(0, members()), (20, members("m1"))], UNKNOWN),
        (COMMIT, NOBODY, [(0, members("m1"))], UNKNOWN),
        (COMMIT, ONE, [(0, members("m1")), (9, members("m1", "m2"))], UNKNOWN),
        (SERVER, ONE, [(0, members("m1")), (9, members("m1", "m2"))], CONFIRMED),
        (SERVER, ONE, [(0, members("m1")), (9, members("m2"))], UNKNOWN),
        (SERVER, ONE, [(0, members("m1")), (9, SILENT)], UNKNOWN),
        (SERVER, ONE, [(0, members("m1", language="GO"))], UNKNOWN),
        (SERVER, ONE, [(0, members("m1", consume_type="CONSUME_ACTIVELY"))], UNKNOWN),
        (SERVER, None, [(0, members("m1"))], UNKNOWN),
    ],
)
def test_an_offset_that_both_may_commit_is_told_by_who_was_there(
    method: ResetMethod, then: Any, seen: Any, expected: ResetOutcome
) -> None:
    said = outcome(JUMP, 60, method=method, then=then, seen=seen)

    assert said is not None
    assert said[0] is expected


def test_the_evidence_says_how_often_what_was_read_and_when() -> None:
    said = outcome([(0, TARGET), (5, 4300), (10, 4600)], 17, then=ONE)

    assert said == (
        CONFIRMED,
        "Set to 4,000; read 18 times over 17 s: 4,000 after 0 s, 4,300 after 5 s, 4,600 after 10 s. "
        "Only a member that started at 4,000 reports offsets between it and 9,000.",
    )


def test_the_evidence_names_who_committed_over_it() -> None:
    said = outcome([(0, TARGET), (2, 1100)], 14, before=BEHIND, then=("m1", "m2"))

    assert said is not None
    assert said[1].endswith("1,100 after 2 s. m1 or one of 1 more, connected since before, committed over it.")


@pytest.mark.parametrize(
    ("readings", "given", "words"),
    [
        ([(0, "broker-a is silent")], {}, "Could not be read for 60 s: broker-a is silent."),
        ([(0, TARGET), (3, "broker-a is silent")], {}, "After that it could not be read: broker-a is silent."),
        ([(0, TARGET), (3, "silent"), (6, 9100)], {"then": ONE}, "a restarted broker has forgotten"),
        ([(0, TARGET), (3, 9100)], {"then": ONE, "seen": [(0, SILENT)]}, "unknown: broker-b: it is silent."),
        (
            [(0, TARGET)],
            {"then": ONE, "commit_seconds": 90.0},
            "Members commit only every 90 s, too rarely to confirm it.",
        ),
    ],
)
def test_what_is_not_known_has_its_reason(readings: Readings, given: dict[str, Any], words: str) -> None:
    said = outcome(readings, 60, **given)

    assert said is not None
    assert said[0] is UNKNOWN
    assert words in said[1]
