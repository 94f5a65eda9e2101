"""Repeats of a broker that was away, of a slave that stood in for it, and of a file that was changed meanwhile."""

import pytest

from consumers.models import Client
from consumers.vocabulary.reasons import PollProblem, stored_reason
from tests.consumers.pipeline.repeats.runs import (
    A,
    B,
    a_broker_away,
    a_file_read,
    a_slave_with_older_offsets,
    evaluate,
    events,
    offsets_read,
    reported,
    stored_and_read,
)
from tests.ownership_rows import a_member, it_held
from tests.pipeline_rows import put
from tests.rebalance_rows import a_move, a_moved_topic, a_rebalance
from tests.world import a_queue, a_reading, ago

pytestmark = pytest.mark.django_db


def test_a_broker_that_was_away_explains_an_offset_that_went_back(lake, billing):
    a_broker_away(billing)

    evaluate(lake, offsets_read(900, 850, every=30))

    assert [row[:2] for row in events()] == [("broker_crash", "likely")]


def test_an_owner_that_kept_its_offset_commits_again_and_repeats_nothing(lake, billing):
    a_broker_away(billing)
    queue = a_queue(billing.cluster, "Orders", 0)
    it_held(billing, queue, A, 3600, until=20, commit_offset=960)

    assert evaluate(lake, offsets_read(900, 850, every=30)) == 0


@pytest.mark.parametrize(
    ("reports", "elsewhere", "lows"),
    [
        ([(121, 905), (80, 905)], (), []),
        ([(121, 905), (97, 905), (80, 930)], (97,), []),
        ([(121, 905), (80, 930)], (97,), [50]),
        ([(121, 905), (100, 905), (80, 930)], (97,), [50]),
        ([(121, 905), (80, 902)], (), [50]),
    ],
    ids=["as far as before", "further", "without the queue meanwhile", "without it for a part", "less far than before"],
)
def test_a_member_that_its_broker_lists_again_later_kept_its_queue_by_its_reports(
    lake, billing, reports, elsewhere, lows
):
    """Until its next heartbeat it counts as gone."""
    a_broker_away(billing)
    queue = a_queue(billing.cluster, "Orders", 0)
    it_held(billing, queue, A, 3600, until=121, gone_by=90)
    it_held(billing, queue, A, 80, until=20, commit_offset=960)
    reported(lake, *reports)
    for seconds in elsewhere:
        reported(lake, (seconds, 7), topic="Payments", prefix="other-")

    evaluate(lake, offsets_read(900, 850, every=30))

    assert [row[4] for row in events()] == lows


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([(97, 101, 850)], ("offset_file_changed", "likely", 0, 900)),
        ([(150, 160, 880), (97, 101, 850)], ("offset_file_changed", "likely", 0, 900)),
        ([(150, 160, 840), (97, 101, 850)], ("broker_crash", "likely", 0, 50)),
        ([(150, 160, 880), (130, 140, 890), (97, 5000, 850)], ("offset_file_changed", "proven", 0, 50)),
        ([(150, 160, 880), (97, 5000, 850)], ("offset_file_changed", "likely", 0, 50)),
        ([(150, 160, 840), (97, 140, 850)], ("broker_crash", "proven", 0, 50)),
        ([(104, 140, 850), (97, 101, 850)], ("broker_crash", "likely", 0, 50)),
        ([(150, 160, 880), (104, 5000, 850), (97, 101, 860)], ("offset_file_changed", "likely", 0, 50)),
        ([(150, 160, 840)], ("broker_crash", "likely", 0, 50)),
    ],
    ids=[
        "written",
        "written with less",
        "written with more",
        "older than two",
        "older than one",
        "its own",
        "its own, then written",
        "older, then written",
        "not read meanwhile",
    ],
)
def test_a_file_that_was_read_while_its_broker_was_away_tells_a_crash_from_a_change(lake, billing, files, told):
    a_broker_away(billing)
    billing.membership_at = ago(60)
    billing.save()
    a_file_read(lake, *files)

    evaluate(lake, offsets_read(900, 850, every=30))

    assert [(*row[:2], *row[4:6]) for row in events()] == [told]


@pytest.mark.parametrize(
    "files",
    [[(150, 160, 880), (97, 101, 850)], [(105, 140, 840), (97, 101, 850)], [(105, 140, 850)]],
    ids=["holds less", "was consumed on", "was not read since"],
)
def test_a_file_that_was_not_there_while_its_broker_was_away_was_lost(lake, billing, files):
    a_broker_away(billing)
    a_file_read(lake, *files)
    put(
        lake, "stored_offsets", [{"cluster": "prod", "taken_at": ago(104), "kind": "broker_file", "broker": "broker-b"}]
    )

    evaluate(lake, offsets_read(900, 850, every=30))

    assert [row[:2] for row in events()] == [("offset_file_lost", "likely")]


@pytest.mark.parametrize(
    ("held", "cause"), [(880, "offset_file_lost"), (840, "broker_crash")], ids=["holds less", "may not have been read"]
)
def test_a_file_that_was_not_there_at_all_meanwhile_was_lost_where_less_came_back(lake, billing, held, cause):
    a_broker_away(billing)
    a_file_read(lake, (150, 160, held))
    put(
        lake, "stored_offsets", [{"cluster": "prod", "taken_at": ago(104), "kind": "broker_file", "broker": "broker-b"}]
    )

    evaluate(lake, offsets_read(900, 850, every=30))

    assert [row[:2] for row in events()] == [(cause, "likely")]


@pytest.mark.parametrize(("paused", "moved"), [(False, 14), (True, 30)], ids=["asked in vain", "not asked"])
def test_a_broker_that_was_not_asked_may_have_been_back_since_it_was_last_asked(lake, billing, paused, moved):
    """The queue consumes 2 messages a second."""
    errors = [stored_reason(PollProblem.NOT_ASKED_AFTER_FAILURES, until="02:00:00")] * 2 if paused else ["refused"] * 2
    for seconds, error in ((120, None), (105, errors[0]), (97, errors[1]), (90, None)):
        broker = {"name": "broker-a", "read": error is None, "error": error}
        a_reading(billing.cluster, ago(seconds), brokers=[broker], complete=error is None)
    readings = [*offsets_read(870, first=135), *offsets_read(900, 850, every=30)]

    evaluate(lake, readings)

    [part] = events()[0][6]
    assert part["from_offset"] == 850 - moved


def test_a_queue_that_a_member_took_after_its_broker_was_away_came_again_for_certain(lake, billing):
    a_broker_away(billing)
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 80, until=20, commit_offset=960)

    evaluate(lake, offsets_read(900, 850, every=30))

    assert [(row[0], row[4]) for row in events()] == [("broker_crash", 50)]


@pytest.mark.parametrize(("started", "at"), [(100, 940), (7000, 860)], ids=["began anew", "took it anew"])
def test_a_member_whom_no_broker_saw_leave_did_not_keep_its_queue(lake, billing, started, at):
    """While a broker is away, no list of members is complete."""
    a_broker_away(billing)
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 3600, until=20, commit_offset=960)
    reported(lake, (121, 905))
    reported(lake, (80, at), started=started)

    evaluate(lake, offsets_read(900, 850, every=30))

    assert [(row[0], row[4]) for row in events()] == [("broker_crash", 50)]


def test_a_member_that_lost_its_broker_and_came_back_is_no_rebalance(lake, billing):
    """Its broker lost its connection, too: that it reconnected moved nothing."""
    a_broker_away(billing)
    queue = a_queue(billing.cluster, "Orders", 0)
    for since, gone in ((7000, 105), (90, None)):
        Client.objects.create(
            group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", started_at=ago(7000),
            seen_since=ago(since), last_seen=ago(gone or 5), gone_by=None if gone is None else ago(gone),
        )  # fmt: skip
    it_held(billing, queue, A, 3600, until=120, gone_by=105)
    it_held(billing, queue, A, 85, until=5, commit_offset=960)
    row = a_rebalance(billing, ago(90), cause="reconnected")
    a_moved_topic(row, moves=[a_move(0, (A,), (A,), replayed_messages_low=40, replayed_messages=50)])

    evaluate(lake, offsets_read(900, 850, every=30), rebalanced=["billing"])

    assert [row[0] for row in events()] == ["broker_crash"]


@pytest.fixture
def regained(lake, billing):
    """A member took the queue anew at 840, and was past 900 again by the first reading of the broker afterwards."""
    a_broker_away(billing)
    a_member(billing, A, 7000)
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 3600, until=20, commit_offset=960)
    reported(lake, (121, 905), (97, 850))
    return stored_and_read(lake, 900, 930, every=30)


def test_a_queue_that_regained_its_offset_while_its_broker_was_away_is_seen_by_its_members_report(lake, regained):
    assert evaluate(lake, regained) == 1
    [(cause, confidence, started_at, _, low, high, parts, found)] = events()
    assert (cause, confidence, started_at, low) == ("broker_crash", "likely", ago(90), 50)
    assert {"code": "resumed_behind", "client_id": A, "offset": 850} in found
    # From 850, less what it can have moved since its broker was last asked in vain.
    assert parts[0]["from_offset"] < 850
    assert high == 905 - parts[0]["from_offset"]


@pytest.mark.parametrize("later", [[], [(97, 98, 960)]], ids=["not written since", "written with more"])
def test_a_regained_queue_began_where_the_file_of_its_broker_ended(lake, regained, later):
    a_file_read(lake, (150, 160, 830), (104, 140, 840), *later)

    evaluate(lake, regained)

    [event] = events()
    assert (*event[:2], *event[4:6]) == ("broker_crash", "likely", 50, 65)


def test_a_regained_queue_whose_rebalance_shows_the_gap_is_the_brokers_repeat_alone(lake, billing, regained):
    row = a_rebalance(billing, ago(97), cause="broker")
    a_moved_topic(row, moves=[a_move(0, (A,), (A,), replayed_messages_low=50, replayed_messages=60)])

    evaluate(lake, regained, rebalanced=["billing"])

    assert [row[0] for row in events()] == ["broker_crash"]


def test_what_the_member_that_takes_a_regained_queue_holds_did_not_come_again(lake, billing, regained):
    """It took the queue within the absence; the one before was at 905."""
    it_held(billing, a_queue(billing.cluster, "Orders", 0), B, 97, until=92, commit_offset=850, cached_max=990)
    a_file_read(lake, (150, 160, 830), (97, 140, 840))

    evaluate(lake, regained)

    assert events()[0][5] == 905 - 840


def test_a_topic_that_its_broker_had_no_more_when_it_was_back_is_another_one(lake, billing, regained):
    gone = stored_and_read(lake, 900, first=90, unknown_reason="topic_gone")
    put(lake, "readings", [{**row, "broker_offset": None} for row in gone])
    back = stored_and_read(lake, 930, first=75)

    assert evaluate(lake, [regained[0], *gone, *back]) == 0


def test_a_regained_queue_stays_the_same_in_a_later_run(lake, regained):
    evaluate(lake, regained)
    before = events()

    evaluate(lake, (), since=30)

    assert events() == before


@pytest.mark.parametrize(
    ("reports", "offsets"),
    [([(121, 905), (97, 905)], (900, 930)), ([(121, 905)], (900, 930)), ([], (900, 930))],
    ids=["kept its offset", "did not report", "was never asked"],
)
def test_a_broker_that_was_away_without_a_member_that_began_behind_repeats_nothing(lake, billing, reports, offsets):
    a_broker_away(billing)
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 3600, until=20, commit_offset=960)
    reported(lake, *reports)

    assert evaluate(lake, stored_and_read(lake, *offsets, every=30)) == 0


@pytest.mark.parametrize(
    ("files", "elsewhere", "told"),
    [
        ([(150, 160, 880), (130, 140, 890), (97, 5000, 850)], (97,), [("offset_file_changed", "likely", 0, 55)]),
        (
            [(150, 160, 880), (130, 140, 890), (104, 5000, 850), (97, 98, 930)],
            (97,),
            [("offset_file_changed", "likely", 0, 55)],
        ),
        (
            [(150, 160, 880), (130, 140, 890), (97, 5000, 850)],
            (120,),
            [("offset_file_changed", "likely", 0, 55)],
        ),
        ([(150, 160, 880), (130, 140, 890), (97, 5000, 850)], (), []),
        ([(150, 160, 840), (97, 140, 850)], (97,), []),
        ([(150, 160, 880), (97, 101, 900)], (97,), []),
    ],
    ids=[
        "an older file",
        "an older one, then written",
        "given up before it was away",
        "kept its queue",
        "the broker's own file",
        "stopped in order",
    ],
)
def test_a_queue_that_was_given_up_and_taken_anew_while_an_older_file_was_put_there_came_again(
    lake, billing, files, elsewhere, told
):
    """No reading and no report shows it to be behind."""
    a_broker_away(billing)
    a_member(billing, A, 7000)
    reported(lake, (121, 905), (85, 935))
    for seconds in elsewhere:
        reported(lake, (seconds, 7), topic="Payments", prefix="other-")
    a_file_read(lake, *files)

    evaluate(lake, stored_and_read(lake, 900, 930, every=30))

    assert [(*row[:2], *row[4:6]) for row in events()] == told


def test_a_broker_that_was_away_for_longer_than_readings_are_in_hand_is_compared_all_the_same(lake, billing):
    for seconds, read in ((4000, True), (3985, False), (105, False), (90, True)):
        a_reading(billing.cluster, ago(seconds), brokers=[{"name": "broker-a", "read": read}], complete=read)
    stored_and_read(lake, 900, first=4000)
    reported(lake, (85, 870))

    evaluate(lake, stored_and_read(lake, 850, first=90))

    assert [(row[0], row[4]) for row in events()] == [("broker_crash", 50)]


def test_a_member_that_began_at_a_slaves_older_offset_is_seen_by_its_reports(lake, billing):
    readings = a_slave_with_older_offsets(billing)
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 100, until=20, commit_offset=910)
    reported(lake, (90, 600), (75, 910))

    evaluate(lake, readings)

    [event] = events()
    assert (*event[:2], event[4]) == ("slave_failover", "proven", 300)


def test_a_member_that_began_at_a_slaves_older_offset_began_where_the_slave_was(lake, billing):
    readings = a_slave_with_older_offsets(billing)
    put(lake, "readings", [{**row, "slave_offset": 590} for row in readings if row["unknown_reason"]])
    reported(lake, (90, 600), (75, 910))

    evaluate(lake, readings)

    [event] = events()
    assert event[6][0]["from_offset"] == 590
    assert {"code": "slave_held", "slave": "10.0.0.2:10911", "offset": 590} in event[7]


def test_an_older_offset_of_a_slave_that_nobody_began_at_repeats_nothing(lake, billing):
    readings = a_slave_with_older_offsets(billing)
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 3600, until=20, commit_offset=910)
    reported(lake, (90, 905), (75, 910))

    assert evaluate(lake, readings) == 0
