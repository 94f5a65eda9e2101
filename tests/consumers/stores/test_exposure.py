from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from consumers.stores.exposure import NUMBERS, Held, Stored, exposure
from consumers.words.reasons import stored_words

NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)
AGE = timedelta(seconds=45)


def ago(seconds):
    return NOW - timedelta(seconds=seconds)


def held(cached_min=None, cached_max=None, cached_count=0, *, commit=None, client="c1", reported_at=NOW):
    return Held(client, reported_at, commit, cached_min, cached_max, cached_count)


def exposed(committed, *owners, file=None, read_at=NOW, broker_offset=None):
    never = committed is None
    stored = Stored(committed, read_at, "never committed" if never else None, is_empty=never)
    on_disk = Stored(file, read_at, None if file is not None else "no file")
    found = exposure(stored, on_disk, owners, "no member owns it", NOW, AGE, broker_offset)
    unknown = {name: stored_words(why) for name, why in found.unknown.items()}
    return replace(found, unknown=unknown, notes=tuple(map(stored_words, found.notes)))


def ends(seen):
    return seen.low, seen.high, seen.finished_out_of_order


@pytest.mark.parametrize(
    ("committed", "owner", "expected"),
    [
        # Held from the committed offset on: nothing is finished, all of it may come again.
        (100, held(100, 139, 40, commit=100), (0, 40, 0)),
        # 12 are finished and not committed; 28 more are in hand or wait.
        (100, held(112, 139, 28, commit=112), (12, 40, 0)),
        # Five of the span are finished beyond the first unfinished one.
        (100, held(112, 139, 23, commit=112), (12, 40, 5)),
        # The first message hangs, and all but one behind it are finished: nothing of it is safe.
        (100, held(100, 1100, 2, commit=100), (0, 1001, 999)),
        # Nothing is held: what is in memory and not committed is exactly what comes again.
        (100, held(commit=130), (30, 30, 0)),
        (100, held(commit=100), (0, 0, 0)),
    ],
)
def test_a_consumer_that_dies_repeats_from_the_committed_offset(committed, owner, expected):
    seen = exposed(committed, owner)
    assert ends(seen) == expected
    assert not {"low", "high", "finished_out_of_order"} & seen.unknown.keys()


@pytest.mark.parametrize(
    ("fields", "high"),
    [
        ({}, 500),
        ({"head_since": ago(29)}, 1),
        ({"is_orderly": True}, 1),
        ({"head_since": None}, 1),
        ({"cached_max": 199, "cached_count": 65}, 100),
    ],
    ids=["it stands", "not for long", "in order", "nobody knows since when", "others wait for a thread"],
)
def test_behind_a_first_message_that_stands_all_may_be_finished(fields, high):
    owner = replace(held(100, 100, 1, commit=100), **{"head_since": ago(30), **fields})
    seen = exposed(100, owner, broker_offset=600)
    assert (seen.low, seen.high) == (0, high)
    assert seen.finished_out_of_order == high - owner.cached_count


def test_a_broker_that_dies_repeats_nothing_while_the_owner_stays():
    assert exposed(100, held(112, 139, 28), file=90).broker_dies == 0


def test_when_both_die_the_file_is_gone_on_from():
    seen = exposed(100, held(112, 139, 28), file=90)
    # The file may have reached the broker's memory since it was looked at.
    assert (seen.both_die_low, seen.both_die_high) == (12, 50)


def test_a_file_that_was_read_after_the_memory_may_be_ahead_of_it():
    seen = exposed(100, held(112, 139, 28), file=105)
    assert (seen.both_die_low, seen.both_die_high) == (7, 35)


def test_without_a_file_the_death_of_both_is_unknown():
    seen = exposed(100, held(112, 139, 28))
    assert (seen.both_die_low, seen.both_die_high) == (None, None)
    assert (seen.unknown["both_die_low"], seen.unknown["both_die_high"]) == ("no file", "no file")


@pytest.mark.parametrize(
    ("committed", "owners", "reason"),
    [
        (100, [], "no member owns it"),
        (100, [held(cached_count=None)], "not sampled"),
        (
            100,
            [held(112, 139, 28, reported_at=ago(46))],
            "c1 last reported its cached messages 46 s ago: older than 45 s is too old",
        ),
        (
            100,
            [held(112, 139, 28), held(0, 9, 10, client="c2", reported_at=ago(90))],
            "c2 last reported its cached messages 1 min 30 s",
        ),
        (100, [held(cached_count=3)], "c1 did not report its cached messages"),
        (100, [held()], "c1 has cached no message and has no offset in its memory"),
    ],
)
def test_what_the_owner_did_not_say_leaves_everything_unknown(committed, owners, reason):
    seen = exposed(committed, *owners, file=90)
    assert [getattr(seen, name) for name in NUMBERS] == [None] * len(NUMBERS)
    assert all(seen.unknown[name].startswith(reason) for name in NUMBERS)


def test_without_a_committed_offset_nobody_knows_where_the_next_one_starts():
    seen = exposed(None, held(112, 139, 28), file=90)
    assert (seen.low, seen.high, seen.unknown["low"], seen.unknown["high"]) == (None, None, *["never committed"] * 2)
    assert (seen.finished_out_of_order, seen.broker_dies, seen.both_die_high) == (0, 0, 50)


def test_where_nothing_was_committed_and_nothing_begun_nothing_comes_again():
    seen = exposed(None, held(), held(client="c2", reported_at=ago(5)))
    assert [getattr(seen, name) for name in NUMBERS] == [0] * len(NUMBERS)
    assert (seen.as_of, dict(seen.unknown)) == (ago(5), {})


@pytest.mark.parametrize("owner", [held(reported_at=ago(46)), held(cached_count=None), held(commit=7)])
def test_that_nothing_was_begun_must_have_been_said_lately(owner):
    assert exposed(None, held(), owner).low is None


def test_an_offset_beyond_the_client_is_an_anomaly_with_a_name():
    seen = exposed(120, held(112, 139, 28))
    assert (seen.low, seen.high) == (None, 20)
    assert seen.unknown["low"] == "anomaly: committed past the client: 120 is stored, the client is at 112"


def test_a_file_beyond_the_client_is_an_anomaly_with_a_name():
    seen = exposed(100, held(112, 139, 28), file=500)
    assert seen.both_die_high is None
    assert seen.unknown["both_die_high"] == "anomaly: file past the client: 500 is stored, the client is at 140"


def test_an_offset_that_was_read_after_the_client_spoke_is_no_anomaly():
    seen = exposed(120, held(112, 139, 28, reported_at=ago(12)))
    assert seen.unknown["low"] == "the client reported 12 s before the offset was read, and has moved on since"


def test_more_messages_than_offsets_are_an_anomaly():
    seen = exposed(100, held(112, 139, 29))
    assert (seen.finished_out_of_order, seen.low) == (None, 12)
    assert seen.unknown["finished_out_of_order"] == "anomaly: more messages held than offsets"


def test_of_several_owners_the_least_and_the_greatest_count():
    seen = exposed(100, held(112, 139, 28), held(105, 120, 10, client="c2", reported_at=ago(5)))
    assert (seen.low, seen.high, seen.finished_out_of_order, seen.as_of) == (5, 40, 6, ago(5))
    assert seen.notes == ("2 clients hold this queue: the least and the greatest of what they report count",)


offsets = st.one_of(st.none(), st.integers(0, 1000))
owners = st.builds(
    Held,
    client_id=st.just("c"),
    reported_at=st.integers(0, 90).map(ago),
    commit_offset=offsets,
    cached_min=offsets,
    cached_max=offsets,
    cached_count=offsets,
)


@given(memory=offsets, file=offsets, owners=st.lists(owners, max_size=3), read_at=st.integers(0, 90).map(ago))
def test_every_number_is_known_and_not_negative_or_has_a_reason(memory, file, owners, read_at):
    seen = exposed(memory, *owners, file=file, read_at=read_at)
    for name in NUMBERS:
        number = getattr(seen, name)
        assert (number is None) == bool(seen.unknown.get(name))
        assert number is None or number >= 0


@given(committed=st.integers(0, 50), span=st.sets(st.integers(50, 99), min_size=1))
def test_what_is_finished_lies_between_low_and_high(committed, span):
    seen = exposed(committed, held(min(span), max(span), len(span)))
    finished = [offset for offset in range(committed, max(span) + 1) if offset not in span]
    assert seen.low <= len(finished) <= seen.high
    assert len(finished) == seen.low + seen.finished_out_of_order
