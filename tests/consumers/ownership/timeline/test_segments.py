"""Who held a queue, out of intervals with honest bounds. Seconds after the range's start, in range 0 to 300."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from consumers.ownership.rows import Holding
from consumers.ownership.segments import Claim, Doubts, Patience, Stretch, segments
from tests.world import NOW

PATIENCE = Patience(timedelta(seconds=120))
END = 300


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def claim(owner: str, since: float, told: float, gone_by: float | None = None) -> Claim:
    return Claim(owner, at(since), at(told), None if gone_by is None else at(gone_by))


def told(*claims: Claim, unread: list[Stretch] | None = None, silent: list[Stretch] | None = None):
    """[(first second, last second, holding, owners)], instants left out."""
    doubts = Doubts(unread or [], silent or [], PATIENCE)
    found = segments(list(claims), doubts, at(0), at(END))
    assert [found[0].since, *(s.until for s in found)] == [*(s.since for s in found), at(END)]
    return [
        (
            round((s.since - NOW).total_seconds()),
            round((s.until - NOW).total_seconds()),
            s.holding.value,
            "".join(c.owner for c in s.claims),
        )
        for s in found
        if s.until - s.since > timedelta(microseconds=1)
    ]


CASES = [
    ("one owner throughout", [claim("a", -50, 290)], [(0, 300, "owner", "a")]),
    ("nobody ever", [], [(0, 300, "nobody", "")]),
    (
        "it reassigned between two answers",
        [claim("a", -50, 100, 115), claim("b", 115, 290)],
        [(0, 100, "owner", "a"), (100, 115, "changed", "ab"), (115, 300, "owner", "b")],
    ),
    (
        "nobody held it for two readings",
        [claim("a", -50, 100, 115), claim("b", 145, 290)],
        [(0, 100, "owner", "a"), (100, 115, "changed", "a"), (115, 145, "nobody", ""), (145, 300, "owner", "b")],
    ),
    (
        "two owners were told twice",
        [claim("a", -50, 160, 175), claim("b", 130, 290)],
        [(0, 130, "owner", "a"), (130, 160, "several", "ab"), (160, 300, "owner", "b")],
    ),
    (
        "two owners in one reading are a handover between two answers",
        [claim("a", -50, 130, 145), claim("b", 130, 290)],
        [(0, 130, "owner", "a"), (130, 300, "owner", "b")],
    ),
    (
        "two owners in the newest reading alone are not yet two",
        [claim("a", -50, 290), claim("b", 290, 290)],
        [(0, 290, "owner", "a"), (290, 300, "changed", "ab")],
    ),
    (
        "two owners that both were not asked again are still two",
        [claim("a", -50, 280), claim("b", 100, 280)],
        [(0, 100, "owner", "a"), (100, 300, "several", "ab")],
    ),
    (
        "an owner that stopped answering is doubted after some patience",
        [claim("a", -50, 100)],
        [(0, 220, "owner", "a"), (220, 300, "unknown", "")],
    ),
    (
        "an owner that left and took it again",
        [claim("a", -50, 100, 115), claim("a", 130, 290)],
        [(0, 100, "owner", "a"), (100, 115, "changed", "a"), (115, 130, "nobody", ""), (130, 300, "owner", "a")],
    ),
    (
        "the same two of one id are one owner",
        [claim("a", -50, 160, 175), claim("a", 130, 290)],
        [(0, 130, "owner", "a"), (130, 300, "owner", "a")],
    ),
]


@pytest.mark.parametrize(("claims", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_it_says_who_held_a_queue(claims, expected):
    assert told(*claims) == expected


def test_a_queue_has_no_owner_only_while_every_member_had_said_what_it_holds():
    silence = [Stretch(at(200), at(250), "c had not said")]
    assert told(claim("a", -50, 100, 115), silent=silence)[2:] == [
        (115, 200, "nobody", ""),
        (200, 250, "unknown", ""),
        (250, 300, "nobody", ""),
    ]


def test_nothing_is_known_while_nothing_was_read():
    hole = [Stretch(at(50), at(200), "no reading")]
    assert told(claim("a", -50, 290), unread=hole) == [
        (0, 50, "owner", "a"),
        (50, 200, "unknown", ""),
        (200, 300, "owner", "a"),
    ]


def test_an_unknown_stretch_says_why():
    doubts = Doubts([Stretch(at(0), at(50), "no reading")], [Stretch(at(50), at(300), "c had not said")], PATIENCE)
    assert [s.reason for s in segments([], doubts, at(0), at(END))] == ["no reading", "c had not said"]
    late = segments([claim("a", -50, -10)], Doubts([], [], Patience(timedelta(seconds=5))), at(0), at(END))
    assert [s.reason for s in late] == ["a has not reported its queues since 2026-03-14 02:59:50 UTC"]


TIMES = st.integers(-100, 400)


@st.composite
def intervals(draw):
    since = draw(TIMES)
    lasts, gone = draw(st.integers(0, 200)), draw(st.none() | st.integers(1, 100))
    last = since + lasts
    return claim(draw(st.sampled_from("abc")), since, last, None if gone is None else last + gone)


@st.composite
def stretches(draw):
    since = draw(TIMES)
    return [Stretch(at(since), at(since + draw(st.integers(1, 100))), "why")]


@given(st.lists(intervals(), max_size=5), stretches(), stretches())
def test_at_every_moment_it_says_what_the_intervals_do(claims, unread, silent):
    claims = sorted(claims, key=lambda claim: claim.since)
    found = segments(claims, Doubts(unread, silent, PATIENCE), at(0), at(END))
    for second in range(0, END, 7):
        moment = at(second + 0.5)
        [segment] = [s for s in found if s.since <= moment < s.until]
        sure = {c.owner for c in claims if c.since <= moment < c.certain_until(PATIENCE)}
        if unread[0].since <= moment < unread[0].until:
            assert segment.holding is Holding.UNKNOWN
        elif len(sure) == 1:
            assert (segment.holding, {c.owner for c in segment.claims}) == (Holding.OWNER, sure)
        elif sure:
            assert segment.holding in (Holding.SEVERAL, Holding.CHANGED)
        elif any(c.since <= moment and (c.gone_by is None or moment < c.gone_by) for c in claims):
            assert segment.holding in (Holding.UNKNOWN, Holding.CHANGED)
        else:
            is_silent = silent[0].since <= moment < silent[0].until
            assert segment.holding is (Holding.UNKNOWN if is_silent else Holding.NOBODY)
