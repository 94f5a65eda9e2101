"""What the rows say of queues beside their readings: offsets that are gone, and offsets that were set by hand."""

import pytest

from consumers.models import Reset, ResetKind, ResetMethod, ResetQueue, ResetStatus, ResetStep
from consumers.pipeline.known import MOVED_WITHIN, lost_offsets, set_by_hand
from consumers.vocabulary.states import UnknownReason
from consumers.vocabulary.times import microseconds
from tests.world import NOW, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster():
    return a_cluster(read_at=None)


def test_a_lost_offset_has_its_last_value_and_time(cluster):
    group = a_group(cluster)
    a_snapshot(
        group, a_queue(cluster), None, 90, unknown_reason=UnknownReason.OFFSET_LOST, lost_offset=40, lost_at=ago(60)
    )
    a_snapshot(group, a_queue(cluster, queue_id=1), 40, 90)
    (row,) = lost_offsets(["prod"]).to_pylist()
    assert (row["group"], row["queue_id"], row["lost_offset"]) == ("billing", 0, 40)
    assert row["lost_us"] == microseconds(ago(60))


def a_reset_queue(step, before=120, written=118, after=None):
    reset = Reset.objects.create(
        cluster_name="prod",
        group_name="billing",
        by_name="ann",
        reason="again",
        kind=ResetKind.EARLIEST,
        status=ResetStatus.APPLYING,
        created_at=ago(200),
    )
    times = {"before_at": before, "written_at": written, "after_at": after}
    known = {name: None if seconds is None else ago(seconds) for name, seconds in times.items()}
    return ResetQueue.objects.create(reset=reset, topic="Orders", broker="broker-a", queue_id=0, step=step, **known)


def spans(since=600):
    return [
        (span["from_us"], span["to_us"])
        for row in set_by_hand(["prod"], ago(since), NOW).to_pylist()
        for span in row["hands"]
    ]


@pytest.mark.parametrize(
    ("fields", "end", "why"),
    [
        ({"step": ResetStep.READ_BACK, "after": 90}, ago(90), "to what was read back"),
        ({"step": ResetStep.WRITTEN}, NOW, "it may still move"),
        ({"step": ResetStep.WRITING, "written": None}, NOW, "the broker may have done it"),
    ],
)
def test_an_offset_was_set_by_hand_from_the_last_look_before(cluster, fields, end, why):
    a_reset_queue(**fields)
    assert spans() == [(microseconds(ago(120)), microseconds(end + MOVED_WITHIN))], why


@pytest.mark.parametrize("step", [ResetStep.PLANNED, ResetStep.FAILED, ResetStep.NOT_DONE])
def test_what_was_not_written_was_not_set(cluster, step):
    a_reset_queue(step, before=None, written=None)
    assert spans() == []


def test_what_was_set_long_ago_does_not_matter_any_more(cluster):
    a_reset_queue(ResetStep.READ_BACK, before=3000, written=2990, after=2980)
    assert spans(since=600) == []


def test_a_queue_that_a_reset_left_where_it_stood_was_not_set_by_hand(cluster):
    queue = a_reset_queue(ResetStep.READ_BACK, after=90)
    assert spans()
    queue.method = ResetMethod.NOTHING
    queue.save()
    assert spans() == []
