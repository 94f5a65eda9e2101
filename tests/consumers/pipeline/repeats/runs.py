"""What runs of the pipeline found: rows of a group whose offset went back, one run over them, and its events."""

from datetime import timedelta

from consumers.models import Client, Cluster, GroupWindow, RepeatEvent
from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.falls import offset_falls
from consumers.pipeline.repeats.run import find_repeats
from consumers.vocabulary.times import microseconds
from tests.ownership_rows import it_held
from tests.pipeline_rows import gathered, put, rows
from tests.rebalance_rows import a_move, a_moved_topic, a_rebalance
from tests.reset_rows import a_reset_queue
from tests.world import NOW, a_queue, a_reading, ago

A, B = "10.0.0.7@3312", "10.0.0.9@3312"


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
    names = ("cause", "confidence", "started_at", "last_at", "redelivered_low", "redelivered_high", "parts", "evidence")
    return list(RepeatEvent.objects.order_by("started_at", "cause").values_list(*names))


def a_written_queue(reset, before, target, **more):
    times = {"before_at": ago(95), "written_at": ago(94), "after_at": ago(90)}
    a_reset_queue(reset, before=before, target=target, step="read back", outcome="CONFIRMED", **times, **more)


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


def a_broker_away(group):
    there, away = {"name": "broker-a", "read": True}, {"name": "broker-a", "read": False}
    for seconds, broker in ((120, there), (105, away), (97, away), (90, there)):
        a_reading(group.cluster, ago(seconds), brokers=[broker], complete=broker["read"])


def a_file_read(lake, *readings, **fields):
    """Each: how long ago it was read and written, and the offset that it held."""
    Cluster.objects.update(offset_files="broker-a=/store/consumerOffset.json")
    of_queue = {"cluster": "prod", "group": "billing", "topic": "Orders", "broker": "broker-a", "queue_id": 0}
    of_file = {"kind": "broker_file", "source": "/store/consumerOffset.json"}
    for read, written, offset in readings:
        times = {"taken_at": ago(read), "modified_at": ago(written)}
        put(lake, "stored_offsets", [{**of_queue, **of_file, **times, "offset": offset, **fields}])


def stored_and_read(lake, *offsets, **fields):
    """Readings that the history store has, too."""
    found = offsets_read(*offsets, **fields)
    put(lake, "readings", found)
    return found


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


def a_window(group, minutes, came):
    start = NOW - timedelta(minutes=minutes)
    return GroupWindow.objects.create(
        group=group, step_seconds=60, start=start, readings=4, into_retry=came, out_of_retry=came
    )
