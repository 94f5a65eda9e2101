"""Why a member's oldest message stays: one kind for each combination of facts, and none from missing ones."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from consumers.retries.blocked import is_past_timeout, kind_of
from consumers.retries.blocked_rows import BlockedKind
from consumers.retries.heads import Sendbacks, StuckMessage
from tests.readings import at

NOW = at(600)
# Seen first 300 s ago; heard 10 s ago, when it had just pulled.
HEAD = StuckMessage(
    cluster="prod",
    group="stock",
    topic="Stock",
    broker="broker-a",
    queue_id=3,
    offset=100,
    since=at(300),
    last_heard_at=at(590),
    now=NOW,
    patience=timedelta(seconds=120),
    client_id="c1",
    message_model="CLUSTERING",
    consume_type="CONSUME_PASSIVELY",
    settings={"consumeTimeout": "15"},
    cached_max=109,
    cached_count=4,
    last_pull_at=at(589),
    last_consume_at=at(588),
    last_lock_at=at(580),
    broker_offset=150,
)
ORDERLY, CONCURRENT = replace(HEAD, orderly=True), replace(HEAD, orderly=False)
FAILING = {"consume_failed_tps": 0.9, "consume_ok_tps": 0.0}
FINE = {"consume_failed_tps": 0.0, "consume_ok_tps": 0.5}
NOTHING_CAME, SOMETHING_CAME = Sendbacks(arrive=False), Sendbacks(arrive=True)
NOT_COUNTED, REFUSED = Sendbacks(None, "not aggregated"), Sendbacks(None, "not aggregated", "broker-a is closed")
LONG_AGO = at(310)
OLD = {"since": NOW - timedelta(minutes=12)}
OLDER = {"since": NOW - timedelta(minutes=31)}


@pytest.mark.parametrize(
    ("head", "changes", "expected"),
    [
        (ORDERLY, {"status": FAILING}, BlockedKind.ORDERLY_SUSPEND),
        (ORDERLY, {"status": FAILING, "last_consume_at": LONG_AGO}, BlockedKind.SLOW_MESSAGE),
        (ORDERLY, {"status": FINE, "last_consume_at": LONG_AGO}, BlockedKind.SLOW_MESSAGE),
        (ORDERLY, {"status": FINE}, BlockedKind.NOT_COMMITTED),
        # Its listener has run since it became the oldest, as far as the client's clock is known.
        (ORDERLY, {"status": FAILING, "since": at(555), "last_consume_at": at(560)}, BlockedKind.SLOW_MESSAGE),
        (ORDERLY, {"status": FAILING, "last_consume_at": None}, BlockedKind.UNKNOWN),
        (ORDERLY, {"status": FAILING, "last_lock_at": at(540)}, BlockedKind.UNKNOWN),
        (ORDERLY, {"status": FINE, "last_consume_at": LONG_AGO} | OLDER, BlockedKind.SLOW_MESSAGE),
        (CONCURRENT, {"status": FAILING, "sendbacks": NOTHING_CAME}, BlockedKind.LOCAL_RETRY),
        (CONCURRENT, {"status": FAILING, "sendbacks": REFUSED}, BlockedKind.LOCAL_RETRY),
        (CONCURRENT, {"status": FAILING, "sendbacks": SOMETHING_CAME}, BlockedKind.SLOW_MESSAGE),
        (CONCURRENT, {"status": FAILING, "sendbacks": NOT_COUNTED}, BlockedKind.UNKNOWN),
        (CONCURRENT, {"status": FAILING, "sendbacks": NOTHING_CAME} | OLDER, BlockedKind.LOCAL_RETRY),
        (CONCURRENT, {"status": FAILING | {"consume_failed_tps": 0.02}, "sendbacks": NOTHING_CAME}, "slow message"),
        (CONCURRENT, {"status": FAILING, "message_model": "BROADCASTING"}, BlockedKind.SLOW_MESSAGE),
        (CONCURRENT, {"status": FINE, "sendbacks": REFUSED}, BlockedKind.SLOW_MESSAGE),
        (CONCURRENT, {"status": FINE} | OLD, BlockedKind.TIMEOUT_NEAR),
        (CONCURRENT, {"status": FINE} | OLDER, BlockedKind.TIMEOUT_NEAR),
        (CONCURRENT, {"status": FINE, "settings": {}} | OLDER, BlockedKind.SLOW_MESSAGE),
        (CONCURRENT, {"status": FINE, "consume_type": "CONSUME_ACTIVELY"}, BlockedKind.UNKNOWN),
        (CONCURRENT, {"status": {}}, BlockedKind.UNKNOWN),
        (ORDERLY, {"status": {}}, BlockedKind.UNKNOWN),
        (HEAD, {"status": FINE}, BlockedKind.UNKNOWN),
        (CONCURRENT, {"status": FINE, "last_heard_at": at(470)}, BlockedKind.UNKNOWN),
    ],
)
def test_the_kind_follows_from_what_the_member_says(head, changes, expected):
    assert kind_of(replace(head, **changes)).kind == expected


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (
            replace(CONCURRENT, last_heard_at=at(470), client_error="timed out"),
            "c1 has not reported its queues .*: timed out",
        ),
        (replace(ORDERLY, status=FAILING, last_lock_at=at(540)), "has not renewed its lock on the queue for 49 s"),
        (replace(CONCURRENT, status=FAILING, sendbacks=NOT_COUNTED), "messages fail; not aggregated"),
        (replace(CONCURRENT, status={}), "c1 does not report how many messages of Stock fail"),
    ],
)
def test_an_unknown_kind_says_why(head, words):
    assert re.search(words, kind_of(head).why_unknown)


@pytest.mark.parametrize(("head", "expected"), [(CONCURRENT, True), (ORDERLY, False)])
def test_only_what_is_consumed_concurrently_is_past_a_timeout(head, expected):
    assert is_past_timeout(replace(head, **OLDER)) is expected


COMBINED = st.fixed_dictionaries(
    {
        "orderly": st.sampled_from([None, True, False]),
        "status": st.sampled_from([{}, FAILING, FINE]),
        "sendbacks": st.sampled_from([NOTHING_CAME, SOMETHING_CAME, NOT_COUNTED, REFUSED]),
        "last_heard_at": st.sampled_from([at(590), at(470)]),
        "last_consume_at": st.sampled_from([None, LONG_AGO, at(588)]),
        "last_pull_at": st.sampled_from([None, at(589)]),
        "last_lock_at": st.sampled_from([None, at(580)]),
        "settings": st.sampled_from([{}, {"consumeTimeout": "1"}, {"consumeTimeout": "soon"}]),
        "consume_type": st.sampled_from([None, "CONSUME_PASSIVELY", "CONSUME_ACTIVELY"]),
    }
)


@given(COMBINED)
def test_a_kind_never_comes_from_missing_facts(facts):
    head = replace(HEAD, **facts)
    kind, why = kind_of(head)
    assert (kind is BlockedKind.UNKNOWN) == (why is not None)
    if head.is_stale or head.is_pulling or head.orderly is None or not head.status:
        assert kind is BlockedKind.UNKNOWN
    if kind in (BlockedKind.ORDERLY_SUSPEND, BlockedKind.NOT_COMMITTED):
        assert head.orderly
        assert head.last_consume_at is not None
    if kind is BlockedKind.LOCAL_RETRY:
        assert head.orderly is False
        assert head.failed_per_second
        assert head.sendbacks.arrive is False or head.sendbacks.refused
    if kind is BlockedKind.TIMEOUT_NEAR:
        assert head.settings["consumeTimeout"] == "1"


@given(
    st.sampled_from([None, True, False]),
    st.none() | st.integers(100, 200),
    st.none() | st.integers(1, 20),
    st.none() | st.integers(90, 300),
)
def test_what_waits_behind_is_known_or_null_and_never_below_zero(orderly, cached_max, cached_count, broker_offset):
    held = {"orderly": orderly, "cached_max": cached_max, "cached_count": cached_count}
    head = replace(HEAD, broker_offset=broker_offset, **held)
    assert (head.behind is None) == (head.finished_out_of_order is None)
    if broker_offset is None or broker_offset <= head.offset:
        assert head.behind is None
    elif orderly:
        assert head.behind == broker_offset - head.offset - 1
    else:
        assert (head.behind is None) == (cached_count is None)
    if head.behind is not None:
        assert head.behind >= 0
        assert head.finished_out_of_order >= 0


STOPPED = {"settings": {"consumeConcurrentlyMaxSpan": "8"}}


@pytest.mark.parametrize(
    ("head", "behind", "finished"),
    [
        (ORDERLY, 49, 0),
        # It holds 3 others of the 49 after 100 and pulls: what it does not hold is finished.
        (CONCURRENT, 3, 46),
        (replace(CONCURRENT, cached_max=100, cached_count=1), 0, 49),
        # Flow control: 110 to 149 are not pulled; of 101 to 109 it holds 3.
        (replace(CONCURRENT, **STOPPED), 43, 6),
        (replace(CONCURRENT, settings={"pullThresholdForQueue": "3"}), 43, 6),
        (replace(CONCURRENT, cached_mib=12, settings={"pullThresholdSizeForQueue": "11"}), 43, 6),
        # At its threshold it pulls still.
        (replace(CONCURRENT, settings={"pullThresholdForQueue": "4"}), 3, 46),
        (replace(ORDERLY, **STOPPED), 49, 0),
    ],
)
def test_what_was_finished_behind_it_does_not_wait(head, behind, finished):
    assert (head.behind, head.finished_out_of_order) == (behind, finished)
