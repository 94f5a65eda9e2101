"""The truth table of causes: what is known of a repeat on the left, its cause, confidence and bounds on the right."""

import pytest

from consumers.pipeline.kernel.segments import MICROSECONDS
from consumers.pipeline.repeats.away_file import AwayFile
from consumers.pipeline.repeats.broadcast import BroadcastQueue, broadcast_part
from consumers.pipeline.repeats.fallen import (
    FallenQueue,
    ListenerReport,
    ResetWrite,
    RetryMinute,
    fallen_part,
    sent_back_part,
)
from consumers.pipeline.repeats.moved import LastOwner, MovedQueue, OwnerFate, moved_part
from consumers.vocabulary.repeats import REPEAT_CAUSES, Confidence, RepeatSource, RepeatUnknown

HELD_SECONDS = 30.0


def moved(**fields):
    """Queue 0 went from a, which reported 40 messages more in memory than the broker had, to b."""
    values = {
        "after_us": 0,
        "at_us": 15 * MICROSECONDS,
        "topic": "Orders",
        "broker": "broker-a",
        "queue_id": 0,
        "low": 40,
        "high": 120,
        "from_offset": 900,
        "until_offset": 1020,
        "has_moved": True,
        "doubly_owned_seconds_low": 0.0,
        "doubly_owned_seconds_high": 0.0,
        "owner": LastOwner("a", OwnerFate.LEFT),
    }
    return MovedQueue(**(values | fields))


def owner(fate=OwnerFate.LEFT, **fields):
    return LastOwner("a", fate, **fields)


NO_GAP = {"low": 0, "high": 120}
BOTH = {"doubly_owned_seconds_low": 0.0, "doubly_owned_seconds_high": 30.0}
# It held 100 offsets, 20 of them unfinished, the first for a minute.
STUCK = {"held_span": 100, "held_count": 20, "head_seconds": 60.0}

# More than there are threads are unfinished: nothing behind them is finished.
WAITING = {"held_span": 100, "held_count": 80, "head_seconds": 60.0}
# It held the first message alone.
ALONE = {"held_span": 1, "held_count": 1, "head_seconds": 60.0}

MOVED = [
    ("left without a final commit", moved(), "consumer_crash", "proven", 40, 120),
    ("left while others joined", moved(has_other_causes=True), "consumer_crash", "likely", 40, 120),
    ("was dropped in silence", moved(owner=owner(OwnerFate.SILENT)), "consumer_crash", "likely", 40, 120),
    ("left, and no gap was seen", moved(**NO_GAP), "consumer_crash", "possible", 0, 120),
    ("left in a rollout, no gap", moved(is_rollout=True, **NO_GAP), "shutdown_did_not_wait", "possible", 0, 120),
    ("left in a rollout, a gap", moved(is_rollout=True), "consumer_crash", "proven", 40, 120),
    ("left, a slow head in front", moved(owner=owner(**STUCK)), "finished_out_of_order", "likely", 40, 120),
    (
        "left, others wait behind the head",
        moved(owner=owner(**WAITING), high=2032),
        "consumer_crash",
        "proven",
        40,
        2032,
    ),
    ("left, all finished but the head", moved(owner=owner(**ALONE)), "finished_out_of_order", "likely", 40, 120),
    ("the head was young", moved(owner=owner(**STUCK | {"head_seconds": 5.0})), "consumer_crash", "proven", 40, 120),
    ("few were finished", moved(owner=owner(**STUCK | {"held_count": 90})), "consumer_crash", "proven", 40, 120),
    ("in order, a slow head", moved(owner=owner(**STUCK, is_orderly=True)), "local_retry_restart", "likely", 40, 120),
    ("stays, a gap", moved(owner=owner(OwnerFate.STAYED)), "stale_offset", "proven", 40, 120),
    ("stays, no gap", moved(owner=owner(OwnerFate.STAYED), **NO_GAP), "stale_offset", "possible", 0, 120),
    ("reconnected", moved(owner=owner(OwnerFate.RECONNECTED)), "stale_offset", "likely", 40, 120),
    ("nobody knows who held it", moved(owner=None), "stale_offset", "possible", 40, 120),
    ("two at once, for long", moved(**BOTH | {"doubly_owned_seconds_low": 15.0}), "two_owners", "proven", 40, None),
    ("two at once, in one poll", moved(**BOTH), "two_owners", "possible", 40, None),
    ("one id, two processes", moved(shared_id="a", **BOTH), "duplicate_client_id", "proven", 40, None),
    ("bounds unknown", moved(low=None, high=None), "consumer_crash", "possible", None, None),
]


@pytest.mark.parametrize(
    ("repeat", "cause", "confidence", "low", "high"), [row[1:] for row in MOVED], ids=[row[0] for row in MOVED]
)
def test_a_moved_queue_has_the_cause_of_its_old_owners_fate(repeat, cause, confidence, low, high):
    part = moved_part(repeat, HELD_SECONDS)

    assert (part.cause, part.confidence, part.low, part.high) == (cause, confidence, low, high)
    assert part.evidence


@pytest.mark.parametrize(
    ("why", "repeat"),
    [
        ("nothing came again", moved(low=0, high=0)),
        ("nobody is known to have held it", moved(low=None, high=None, owner=None)),
        ("its bounds are unknown, and it did not move", moved(low=None, high=None, has_moved=False)),
        ("its offset was set back: that is another event", moved(was_set_back=True)),
    ],
)
def test_a_moved_queue_is_no_repeat_where(why, repeat):
    assert moved_part(repeat, HELD_SECONDS) is None


@pytest.mark.parametrize(
    ("repeat", "reason"),
    [
        (moved(low=None, high=None), RepeatUnknown.OWNER_NOT_SAMPLED),
        (moved(**BOTH), RepeatUnknown.OVERLAP_NOT_COUNTED),
        (moved(), None),
    ],
)
def test_an_unknown_bound_has_its_reason(repeat, reason):
    assert moved_part(repeat, HELD_SECONDS).unknown == reason


def fallen(**fields):
    """Queue 0 went from 1,000 to 700 between two readings; its broker has 1,000 messages."""
    values = {
        "before_us": 0,
        "from_offset": 1000,
        "at_us": 15 * MICROSECONDS,
        "to_offset": 700,
        "topic": "Orders",
        "broker": "broker-a",
        "queue_id": 0,
        "broker_offset": 1000,
        "members": 2,
    }
    return FallenQueue(**(values | fields))


RESET = {"to_offset": 600, "reset": ResetWrite("r-1", before=1000, target=600)}
UNREAD = {"to_offset": 600, "reset": ResetWrite("r-1", before=1000, target=600, is_confirmed=False)}
GAP = {"away_us": 5 * MICROSECONDS, "back_us": 10 * MICROSECONDS}
# The broker's file while it was away.
OLD_FILE = {"file": AwayFile(700, "t"), **GAP}
WRITTEN = {"file": AwayFile(None, "t", Confidence.LIKELY, is_written=True), **GAP}
GONE = {"file": AwayFile(None, "t", Confidence.LIKELY, is_written=True, was_gone=True), **GAP}
OLDER = {"file": AwayFile(700, "t", Confidence.PROVEN), **GAP}
# One that the broker cannot have begun with, as far as it came since.
OTHER_FILE = {"file": AwayFile(100, "t", Confidence.PROVEN), **GAP}
SLAVE = {"slave": "broker-a:1"}
FALLEN = [
    ("we reset it", fallen(**RESET), "reset", "proven", 400, 400),
    ("we reset it, while its broker was away", fallen(**RESET, **GAP), "reset", "proven", 400, 400),
    ("we wrote it, and nobody read it there", fallen(**UNREAD), "reset", "proven", 0, 400),
    ("the broker had no offset between", fallen(was_lost=True), "offset_file_lost", "proven", 300, 1000),
    ("a slave answered", fallen(**SLAVE), "slave_failover", "likely", 0, 300),
    ("a slave had none in between", fallen(was_lost=True, **SLAVE), "slave_failover", "likely", 0, 1000),
    ("a member began at the slave's", fallen(resumed_by="a", **SLAVE), "slave_failover", "proven", 300, 300),
    ("its broker was away", fallen(**GAP), "broker_crash", "likely", 0, 300),
    ("a member took it afterwards", fallen(is_resumed=True, **GAP), "broker_crash", "likely", 300, 300),
    ("its file lacked the commits", fallen(**OLD_FILE), "broker_crash", "proven", 0, 300),
    ("its file was written", fallen(**WRITTEN), "offset_file_changed", "likely", 0, 1000),
    ("its file was not there", fallen(**GONE), "offset_file_lost", "likely", 0, 1000),
    ("an older file was put in its place", fallen(**OLDER), "offset_file_changed", "proven", 0, 300),
    ("another file than it began with", fallen(**OTHER_FILE), "offset_file_changed", "likely", 0, 300),
    ("nobody was in the group", fallen(members=0), "reset_elsewhere", "likely", 300, 300),
    ("several queues at once", fallen(fell_together=4), "reset_elsewhere", "likely", 300, 300),
    ("one queue alone", fallen(), "reset_elsewhere", "possible", 300, 300),
    ("nobody asked who is in the group", fallen(members=None), "unknown", "possible", 300, 300),
]


@pytest.mark.parametrize(
    ("repeat", "cause", "confidence", "low", "high"), [row[1:] for row in FALLEN], ids=[row[0] for row in FALLEN]
)
def test_an_offset_that_went_back_has_the_cause_of_what_happened_around_it(repeat, cause, confidence, low, high):
    part = fallen_part(repeat)

    assert (part.cause, part.confidence, part.low, part.high) == (cause, confidence, low, high)


@pytest.mark.parametrize("around", [GAP, SLAVE], ids=["broker away", "slave"])
def test_a_broker_that_lost_what_its_members_still_had_repeats_nothing(around):
    assert fallen_part(fallen(is_kept=True, **around)) is None
    assert fallen_part(fallen(is_kept=True)) is not None, "a member follows somebody's reset"


def test_a_fall_that_a_rebalance_explains_is_the_rebalances_repeat():
    assert fallen_part(fallen(is_move=True)) is None


def test_two_processes_with_one_id_that_commit_in_turn_are_no_reset_by_somebody():
    assert fallen_part(fallen(is_shared=True, fell_together=4)) is None
    assert fallen_part(fallen(is_shared=True, **RESET)).cause == "reset"


@pytest.mark.parametrize(
    ("repeat", "high", "why"),
    [
        (fallen(held_until=1000, fastest=2.0, broker_offset=5000), 360, "30 more on either side"),
        (fallen(held_until=1200, broker_offset=5000), 500, "its owner held 200 more"),
        (fallen(held_until=1200, broker_offset=1100), 400, "there were only 100 more"),
        (fallen(broker_offset=5000), 4300, "nobody knows what its owner held: all that there was"),
        (fallen(held_until=1000, fastest=20.0, min_offset=650, broker_offset=1000), 350, "older ones are deleted"),
        (
            fallen(fastest=2.0, held_until=1000, broker_offset=5000, **GAP),
            320,
            "its broker was away: 10 before and after",
        ),
        (fallen(fastest=20.0, to_offset=720, **OLD_FILE), 300, "its file says where it began"),
    ],
)
def test_the_high_bound_of_a_fall_takes_the_safe_ends(repeat, high, why):
    assert fallen_part(repeat).high == high, why


SENT_BACK = [
    (ListenerReport(failures=7, batch_size=1), "wrong_ack", "proven"),
    (ListenerReport(failures=0, batch_size=1), "wrong_ack", "likely"),
    (ListenerReport(), "wrong_ack", "likely"),
    (ListenerReport(failures=7, batch_size=32), "batch_reconsume", "likely"),
    (ListenerReport(failures=0, batch_size=32), "batch_reconsume", "possible"),
    (ListenerReport(failures=0, batch_size=1, pops=True), "pop_revive", "likely"),
    (ListenerReport(pops=True), "pop_revive", "likely"),
    (ListenerReport(failures=7, batch_size=1, pops=True), "wrong_ack", "likely"),
]


@pytest.mark.parametrize(("listener", "cause", "confidence"), SENT_BACK)
def test_messages_sent_back_have_the_cause_that_the_members_report(listener, cause, confidence):
    part = sent_back_part("%RETRY%billing", RetryMinute(0, came=12, consumed=9), listener, is_open=False)

    assert (part.cause, part.confidence, part.low, part.high) == (cause, confidence, 9, 12)


def test_an_unknown_minute_of_retries_is_never_zero():
    minute = RetryMinute(0, came=None, consumed=None)

    part = sent_back_part("%RETRY%billing", minute, ListenerReport(), is_open=True)

    assert (part.low, part.high, part.unknown) == (None, None, RepeatUnknown.MINUTE_UNKNOWN)
    assert sent_back_part("%RETRY%billing", minute, ListenerReport(), is_open=False) is None


def broadcast(**fields):
    """It reported to be at 500 and to hold up to 540, and began again at 450, as its file says."""
    values = {
        "client_id": "a",
        "place": ("Prices", "broker-a", 0),
        "after_us": 0,
        "at_us": 15 * MICROSECONDS,
        "was_at": 500,
        "held_until": 540,
        "began_low": 450,
        "began_high": 450,
        "could_move": 0,
        "broker_offset": 1000,
        "is_filed": True,
    }
    return BroadcastQueue(**(values | fields))


@pytest.mark.parametrize(
    ("queue", "confidence", "low", "high"),
    [
        (broadcast(), "proven", 50, 90),
        (broadcast(could_move=30), "proven", 50, 120),
        (broadcast(could_move=900), "proven", 50, 550),
        (broadcast(began_low=0, began_high=470, is_filed=False), "proven", 30, 540),
        (broadcast(began_low=500, began_high=500), "possible", 0, 40),
        (broadcast(began_low=500, began_high=500, held_until=None), None, None, None),
    ],
    ids=["its file is older", "it went on", "to the end", "without a file", "shut down under load", "shut down"],
)
def test_a_broadcasting_member_that_began_again_repeats_what_its_file_lacks(queue, confidence, low, high):
    part = broadcast_part(queue)

    told = (None,) * 3 if part is None else (part.confidence, part.low, part.high)
    assert told == (confidence, low, high)
    assert part is None or part.cause == "broadcast_crash"


def test_every_cause_of_stored_history_has_a_row_in_this_table():
    told = {row[2] for row in (*MOVED, *FALLEN)} | {row[1] for row in SENT_BACK}
    told |= {broadcast_part(broadcast()).cause}

    stored = (RepeatSource.REBALANCES, RepeatSource.OFFSETS, RepeatSource.RETRIES)
    assert told == {cause for cause, spec in REPEAT_CAUSES.items() if spec.source in stored}
    assert {spec.source for spec in REPEAT_CAUSES.values()} == set(RepeatSource)
    assert {row[3] for row in (*MOVED, *FALLEN)} == set(Confidence)
