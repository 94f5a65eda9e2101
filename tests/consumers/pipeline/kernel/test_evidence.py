"""What answers about members and owners prove."""

import pyarrow as pa
import pytest

from consumers.lake.schemas import READINGS
from consumers.pipeline.kernel.columns import QUEUE
from consumers.pipeline.kernel.evidence import (
    Answers,
    group_ownership,
    membership_evidence,
    queue_ownership,
    with_owners,
)
from consumers.pipeline.known import MEMBERS
from tests.pipeline_rows import PLACE, at, table, us

GROUP = {"cluster": "prod", "group": "billing"}


def answer(seconds, members, complete=True, consume_type="CONSUME_PASSIVELY"):
    row = {"taken_at": at(seconds), "complete": complete, "members": members, "consume_type": consume_type}
    return {**GROUP, **row, "message_model": "CLUSTERING"}


@pytest.mark.parametrize(
    ("answers", "expected", "why"),
    [
        ([answer(0, 2), answer(30, 0), answer(90, 0)], (0, 60.0), "between the empty answers"),
        ([answer(0, 0), answer(90, 2)], (2, None), "the newest has members"),
        ([answer(0, 0)], (0, None), "one answer proves nothing"),
        ([answer(0, 0), answer(90, None, complete=False)], (0, None), "an answer that is not full does not count"),
        ([answer(0, 0), answer(30, 1), answer(60, 0), answer(80, 0)], (0, 20.0), "somebody was there in between"),
    ],
)
def test_members(answers, expected, why):
    (row,) = membership_evidence(table("membership", answers)).to_pylist()
    assert (row["members"], row["without_members_seconds"]) == expected, why


def test_nobody_is_there_from_the_first_empty_answer_on():
    answers = [answer(0, 1), answer(30, 0), answer(60, 0)]
    (row,) = membership_evidence(table("membership", answers)).to_pylist()
    assert row["empty_since_us"] == us(30)


def test_a_group_without_members_keeps_its_last_known_type():
    answers = [answer(0, 1, consume_type="CONSUME_ACTIVELY"), answer(30, 0, consume_type=None)]
    (row,) = membership_evidence(table("membership", answers)).to_pylist()
    assert row["consume_type"] == "CONSUME_ACTIVELY"


def holds(seconds, client_id, **fields):
    return {**PLACE, "taken_at": at(seconds), "client_id": client_id, "dropped": False, **fields}


def idle(seconds, client_id, **fields):
    return {**GROUP, "taken_at": at(seconds), "client_id": client_id, **fields}


def present(*clients):
    return pa.Table.from_pylist([{**GROUP, "client_id": client} for client in clients], MEMBERS)


def test_the_owner_is_who_holds_the_queue_in_its_newest_answer():
    seen = Answers.of(table("ownership", [holds(0, "c1"), idle(60, "c1"), holds(60, "c2", cached_count=3)]))
    (row,) = queue_ownership(seen, present("c1", "c2")).to_pylist()
    assert (row["owner"], row["owners"], row["cached_count"]) == ("c2", 1, 3)
    assert (row["held_us"], row["owner_changed_us"]) == (us(60), us(60))


def test_a_queue_has_the_thresholds_that_its_owner_reports():
    members = [{**GROUP, "client_id": client, "pull_threshold": n} for client, n in (("c1", 50), ("c2", None))]
    answers = table("ownership", [holds(0, "c1"), holds(0, "c2", queue_id=1)])
    queues = pa.Table.from_pylist([PLACE, PLACE | {"queue_id": 1}], pa.schema([READINGS.field(name) for name in QUEUE]))
    found = with_owners(queues, answers, pa.Table.from_pylist(members, MEMBERS)).sort_by("queue_id")
    assert found.select(["owner", "pull_threshold"]).to_pylist() == [
        {"owner": "c1", "pull_threshold": 50},
        {"owner": "c2", "pull_threshold": None},
    ]


def test_a_client_that_has_left_owns_nothing():
    seen = Answers.of(table("ownership", [holds(0, "c1"), idle(60, "c2")]))
    (row,) = queue_ownership(seen, present("c2")).to_pylist()
    assert (row["owner"], row["held_us"]) == (None, us(0))


def test_a_dropped_queue_is_not_held():
    seen = Answers.of(table("ownership", [holds(0, "c1", dropped=True)]))
    assert queue_ownership(seen, present("c1")).num_rows == 0


@pytest.mark.parametrize(
    ("answers", "expected", "why"),
    [
        ([idle(0, "c1"), idle(30, "c2")], (True, None), "both have answered"),
        ([idle(0, "c1")], (False, None), "one was not asked yet"),
        ([idle(0, "c1"), idle(0, "c2", error="timed out")], (False, "timed out"), "one is silent"),
        ([idle(0, "c1"), idle(0, "c2", error="timed out"), idle(30, "c2")], (True, None), "it answered later"),
    ],
)
def test_owners_are_known_once_every_member_has_answered(answers, expected, why):
    (row,) = group_ownership(Answers.of(table("ownership", answers)), present("c1", "c2")).to_pylist()
    assert (row["owners_known"], row["owners_error"]) == expected, why
