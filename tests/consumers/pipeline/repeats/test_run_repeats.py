"""Repeats from what a run finds to their rows."""

from datetime import timedelta

import pytest

from consumers.lake.store import Lake
from consumers.models import Client, Cluster, ConsumerGroup, GroupWindow, RepeatEvent
from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.falls import offset_falls
from consumers.pipeline.repeats.run import find_repeats
from consumers.pipeline.slices import microseconds
from consumers.vocabulary.reasons import PollProblem, stored_reason
from tests.log_rows import a_log_event, a_log_file
from tests.ownership_rows import a_member, it_held
from tests.pipeline_rows import gathered, put, rows
from tests.rebalance_rows import a_move, a_moved_topic, a_rebalance
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import NOW, a_cluster, a_group, a_queue, a_reading, ago

pytestmark = pytest.mark.django_db
A, B = "10.0.0.7@3312", "10.0.0.9@3312"


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


@pytest.fixture
def billing():
    return a_group(a_cluster(read_at=None), "billing")


def offsets_read(*offsets, first=120.0, every=15.0, **fields):
    """Readings from `first` seconds ago on."""
    found = rows([(offset, 1000) for offset in offsets], **fields)
    return [{**row, "taken_at": ago(first - every * number)} for number, row in enumerate(found)]


def evaluate(lake, readings=(), since=120.0, until=0.0, rebalanced=()):
    """One run over [since, until), in seconds before now."""
    durations, begin, end = Durations(), ago(since), ago(until)
    again = begin - timedelta(seconds=durations.repeat_again_seconds)
    falls = offset_falls(gathered(list(readings)), microseconds(again), microseconds(end)) if readings else None
    spans = _spans(rebalanced)
    return find_repeats(lake, ["prod"], begin, end, falls, spans, durations)


def _spans(groups):
    import pyarrow as pa

    if not groups:
        return None
    values = {
        "cluster": ["prod"] * len(groups),
        "group": list(groups),
        "anchor_us": [microseconds(ago(7200))] * len(groups),
    }
    return pa.table(values)


def events():
    """Without when they were evaluated."""
    names = ("cause", "confidence", "started_at", "last_at", "messages_low", "messages_high", "parts", "evidence")
    return list(RepeatEvent.objects.order_by("started_at", "cause").values_list(*names))


def a_written_queue(reset, before, target):
    times = {"before_at": ago(95), "written_at": ago(94), "after_at": ago(90)}
    a_reset_queue(reset, before=before, target=target, step="read back", outcome="CONFIRMED", **times)


def a_crash(group, at=600.0, rollout=False, **move):
    """A left without a word, and B took queue 0 of Orders over; 40 to 120 messages were replayed."""
    Client.objects.create(
        group=group, client_id=A, address="10.0.0.7:1", language="JAVA", started_at=ago(7000), seen_since=ago(7000),
        last_seen=ago(at + 20), gone_by=ago(at),
    )  # fmt: skip
    it_held(group, a_queue(group.cluster, "Orders", 0), A, 3600, at + 20)
    replayed = {"replayed_messages_low": 40, "replayed_messages": 120, "replayed_from": 900, "replayed_until": 1020}
    row = a_rebalance(group, ago(at), cause="gone", rollout=rollout)
    return a_moved_topic(row, moves=[a_move(0, (A,), (B,), **(replayed | move))])


def test_a_crash_is_one_event_with_its_queue_and_offsets(lake, billing):
    a_crash(billing)

    assert evaluate(lake, rebalanced=["billing"]) == 1
    event = RepeatEvent.objects.get()
    assert (event.cause, event.confidence, event.messages_low, event.messages_high) == (
        "consumer_crash",
        "proven",
        40,
        120,
    )
    assert (event.began_after, event.started_at, event.queues) == (ago(615), ago(600), 1)
    [part] = event.parts
    assert (part["topic"], part["broker"], part["queue_id"]) == ("Orders", "broker-a", 0)
    assert (part["from_offset"], part["until_offset"]) == (900, 1020)


def test_the_same_range_twice_leaves_every_row_as_it_is(lake, billing):
    a_crash(billing)
    readings = offsets_read(900, 950, 400, 420)
    evaluate(lake, readings, rebalanced=["billing"])
    before = list(RepeatEvent.objects.order_by("pk").values_list())

    evaluate(lake, readings, rebalanced=["billing"])

    assert len(before) == 2
    assert list(RepeatEvent.objects.order_by("pk").values_list()) == before


def test_two_runs_say_what_one_does(lake, billing):
    readings = offsets_read(900, 400, 420, 300, 310, 320, 330)
    evaluate(lake, readings, since=120, until=0)
    whole = events()
    RepeatEvent.objects.all().delete()

    evaluate(lake, readings, since=120, until=85)
    evaluate(lake, readings, since=85, until=0)

    assert len(whole) == 1
    assert events() == whole


@pytest.mark.parametrize(("doubled", "found"), [(300, 0), (None, 1), (20, 1)], ids=["before", "never", "afterwards"])
def test_a_queue_whose_owner_shares_its_id_falls_by_its_two_commits(lake, billing, doubled, found):
    Client.objects.create(
        group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", seen_since=ago(7000), last_seen=ago(5),
        duplicated_since=None if doubled is None else ago(doubled),
    )  # fmt: skip
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 3600, 5)

    assert evaluate(lake, offsets_read(900, 950, 910, 960)) == found


def test_a_repeat_that_is_found_no_more_goes(lake, billing):
    topic = a_crash(billing)
    evaluate(lake, rebalanced=["billing"])
    topic.delete()

    assert evaluate(lake, rebalanced=["billing"]) == 0
    assert not RepeatEvent.objects.exists()


def test_our_reset_is_named_with_its_number(lake, billing):
    reset = a_reset(billing)
    a_written_queue(reset, before=960, target=400)

    evaluate(lake, offsets_read(900, 950, 410, 420))

    event = RepeatEvent.objects.get()
    assert (event.cause, event.confidence, event.messages_low) == ("reset", "proven", 560)
    assert event.evidence[0] == {"code": "reset_written", "reset": str(reset.pk), "target": 400}


def test_our_reset_is_known_though_the_group_was_back_before_it_was_polled(lake, billing):
    a_written_queue(a_reset(billing), before=960, target=400)

    evaluate(lake, offsets_read(900, 950, 960, 970))

    assert [row[:2] for row in events()] == [("reset", "proven")]


def test_a_reset_that_moved_a_queue_on_is_no_repeat(lake, billing):
    a_written_queue(a_reset(billing), before=400, target=960)

    evaluate(lake)

    assert events() == []


def test_a_broker_that_was_away_explains_an_offset_that_went_back(lake, billing):
    a_broker_away(billing)

    evaluate(lake, offsets_read(900, 850, every=30))

    assert [row[:2] for row in events()] == [("broker_crash", "likely")]


def a_broker_away(group):
    there, away = {"name": "broker-a", "read": True}, {"name": "broker-a", "read": False}
    for seconds, broker in ((120, there), (105, away), (97, away), (90, there)):
        a_reading(group.cluster, ago(seconds), brokers=[broker], complete=broker["read"])


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


def a_file_read(lake, *readings, **fields):
    """Each: how long ago it was read and written, and the offset that it held."""
    Cluster.objects.update(offset_files="broker-a=/store/consumerOffset.json")
    of_queue = {"cluster": "prod", "group": "billing", "topic": "Orders", "broker": "broker-a", "queue_id": 0}
    of_file = {"kind": "broker_file", "source": "/store/consumerOffset.json"}
    for read, written, offset in readings:
        times = {"taken_at": ago(read), "modified_at": ago(written)}
        put(lake, "stored_offsets", [{**of_queue, **of_file, **times, "offset": offset, **fields}])


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


def stored_and_read(lake, *offsets, **fields):
    """Readings that the history store has, too."""
    found = offsets_read(*offsets, **fields)
    put(lake, "readings", found)
    return found


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


def a_slave_with_older_offsets(group):
    away = {"name": "broker-a", "read": True, "read_from": "10.0.0.2:10911"}
    there = {"name": "broker-a", "read": True}
    for seconds, broker in ((120, there), (105, away), (90, away), (75, away)):
        a_reading(group.cluster, ago(seconds), brokers=[broker])
    before, after = offsets_read(900), offsets_read(910, first=75)
    return [*before, *offsets_read(None, None, first=105, unknown_reason="slave_behind"), *after]


def reported(lake, *reports, started=7000, topic="Orders", prefix=""):
    """Each: how long ago, and the offset that the member was at."""
    of_queue = {"cluster": "prod", "group": "billing", "topic": topic, "broker": "broker-a", "queue_id": 0}
    for seconds, offset in reports:
        times = {"taken_at": ago(seconds), "started_at": ago(started)}
        put(lake, "ownership", [{**of_queue, **times, "client_id": A, "commit_offset": offset}], prefix=prefix)


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


@pytest.fixture
def restarted(billing):
    """A broadcasting member that began again 60 s ago."""
    ConsumerGroup.objects.update(message_model="BROADCASTING")
    for since, gone, seen in ((7000, 90, 100), (60, None, 5)):
        Client.objects.create(
            group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", started_at=ago(since),
            seen_since=ago(since), last_seen=ago(seen), gone_by=None if gone is None else ago(gone),
        )  # fmt: skip


def test_a_broadcasting_member_that_began_behind_its_memory_crashed(lake, billing, restarted):
    reported(lake, (115, 480), (100, 500))
    reported(lake, (60, 470), started=60)
    a_file_read(lake, (75, 101, 450), kind="consumer_file", client_id=A)

    assert evaluate(lake) == 1
    [event] = events()
    assert event[:2] == ("broadcast_crash", "proven")
    assert event[4] == 50


def test_the_least_offset_of_broadcasting_members_going_back_is_no_repeat(lake, billing, restarted):
    assert evaluate(lake, offsets_read(900, 850, every=30)) == 0


def test_a_broadcasting_group_has_no_repeat_of_a_rebalance(lake, billing):
    a_crash(billing)
    ConsumerGroup.objects.update(message_model="BROADCASTING")

    assert evaluate(lake, rebalanced=["billing"]) == 0


def test_a_fall_of_a_queue_that_moved_is_the_rebalances_repeat(lake, billing):
    a_crash(billing, at=105)

    evaluate(lake, offsets_read(900, 870, 880), rebalanced=["billing"])

    assert [row[0] for row in events()] == ["consumer_crash"]


def test_an_owner_that_stays_and_was_set_back_is_no_rebalance(lake, billing):
    """A client whose offset somebody set back drops its queue and takes it again."""
    row = a_rebalance(billing, ago(105), cause="unknown")
    a_moved_topic(row, moves=[a_move(0, (A,), (A,), replayed_messages_low=400, replayed_messages=500)])

    evaluate(lake, offsets_read(900, 400, 420), rebalanced=["billing"])

    assert [row[0] for row in events()] == ["reset_elsewhere"]


def test_a_member_that_has_just_begun_and_was_set_back_is_no_rebalance(lake, billing):
    """Its join and its taking the queue again are one rebalance."""
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 103, 5)
    row = a_rebalance(billing, ago(105), cause="joined", settled_at=ago(85))
    a_moved_topic(row, moves=[a_move(0, (), (A,), replayed_messages_low=400, replayed_messages=500)])

    evaluate(lake, offsets_read(900, 400, 420), rebalanced=["billing"])

    assert [row[0] for row in events()] == ["reset_elsewhere"]


def test_an_id_that_a_second_process_took_while_its_member_joined_is_the_cause(lake, billing):
    """The member is seen no earlier than the rebalance."""
    Client.objects.create(
        group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", seen_since=ago(600), last_seen=ago(5),
        duplicated_since=ago(590),
    )  # fmt: skip
    row = a_rebalance(billing, ago(600), cause="joined", settled_at=ago(570))
    seconds = {"doubly_owned_seconds_low": 15.0, "doubly_owned_seconds_high": 30.0}
    a_moved_topic(row, moves=[a_move(0, (), (A,), **seconds)])

    evaluate(lake, rebalanced=["billing"])

    assert [row[:2] for row in events()] == [("duplicate_client_id", "proven")]


@pytest.mark.parametrize(("count", "high"), [(1, 600), (65, 501)], ids=["alone", "others wait for a thread"])
def test_behind_a_message_that_stood_a_reset_repeats_all_that_may_be_finished(lake, billing, count, high):
    """1,000 messages; the first of those that it held stood at 900 when somebody set the offset to 400."""
    Client.objects.create(
        group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", seen_since=ago(7000), last_seen=ago(5)
    )
    held = {"commit_offset": 900, "cached_min": 900, "cached_max": 900, "cached_count": count}
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 3600, 110, head_since=ago(300), **held)

    evaluate(lake, offsets_read(900, 400, 400))

    assert [(row[0], row[4], row[5]) for row in events()] == [("reset_elsewhere", 500, high)]


def test_messages_sent_back_are_one_event_while_they_keep_coming(lake, billing):
    for minutes, came in ((8, 3), (6, 4), (5, 0)):
        a_window(billing, minutes, came)

    evaluate(lake, since=600)

    event = RepeatEvent.objects.get()
    assert (event.cause, event.messages_low, event.messages_high) == ("wrong_ack", 7, 7)
    assert {part["topic"] for part in event.parts} == {"%RETRY%billing"}


def test_a_minute_is_counted_once_however_many_runs_see_it(lake, billing):
    a_window(billing, 1, 5)
    for until in (45, 30, 0):
        evaluate(lake, since=60, until=until)

    assert RepeatEvent.objects.get().messages_high == 5


def test_a_batch_is_named_where_members_take_several_messages(lake, billing):
    Client.objects.create(group=billing, client_id=B, address="10.0.0.9:1", language="JAVA", seen_since=ago(7000),
                          last_seen=ago(5), settings={"consumeMessageBatchMaxSize": "32"},
                          consume_status={"Orders": {"consume_failed_messages": 6}})  # fmt: skip
    a_window(billing, 2, 5)

    evaluate(lake, since=300)

    assert [row[:2] for row in events()] == [("batch_reconsume", "likely")]


def a_window(group, minutes, came):
    start = NOW - timedelta(minutes=minutes)
    return GroupWindow.objects.create(
        group=group, step_seconds=60, start=start, readings=4, into_retry=came, out_of_retry=came
    )


def test_a_quiet_run_asks_few_questions(lake, billing, django_assert_max_num_queries):
    with django_assert_max_num_queries(5):
        assert evaluate(lake, offsets_read(100, 200, 300)) == 0


def test_a_line_of_a_log_names_the_cause_of_what_was_sent_back(lake, billing):
    for number in (1, 2):
        a_window(billing, number, 6)
    a_log_event(billing, a_log_file(billing.cluster), "consume_timed_out", began_at=ago(600), at=ago(1), topic=None)

    evaluate(lake, since=300.0)

    event = RepeatEvent.objects.get()
    assert (event.cause, event.confidence, event.source) == ("consume_timeout", "proven", "retries")
    assert "consume_timed_out" in [one.get("log") for one in event.evidence]


def test_a_line_of_another_group_says_nothing(lake, billing):
    a_window(billing, 1, 6)
    other = a_group(billing.cluster, "audit")
    a_log_event(other, a_log_file(billing.cluster), "consume_timed_out", began_at=ago(600), at=ago(1))

    evaluate(lake, since=300.0)

    assert RepeatEvent.objects.get().cause == "wrong_ack"
