"""What a reading of members, and of dead letters, leaves in the lake."""

import pyarrow as pa
import pytest

from consumers.lake.reader import files, read
from consumers.lake.schemas import MEMBER_RATES, MEMBERSHIP, OWNERSHIP
from consumers.lake.store import Lake
from consumers.polling.record.history import (
    membership_rows,
    ownership_rows,
    rate_rows,
    reading_rows,
    write_history,
)
from tests.readings import at, broker, client, group_members, members, owned, reading, row

WORDS = {"started_at": at(-60), "strategy": "Averagely", "subscription": "Orders TAG *", "sub_version": at(-30)}


def found(rows, schema, *names):
    """Through the table's own columns, as it is written."""
    return pa.Table.from_pylist(rows, schema).select(names).to_pylist()


def test_a_group_s_row_has_the_newest_change_that_a_broker_told():
    rows = membership_rows(members(0, [group_members("billing", "c1", sub_version=at(-30)), group_members("idle")]))
    assert found(rows, MEMBERSHIP, "group", "sub_version") == [
        {"group": "billing", "sub_version": at(-30)},
        {"group": "idle", "sub_version": None},
    ]


def test_every_row_of_an_answering_client_says_what_it_is():
    queues = [owned("Orders", "broker-a", queue_id) for queue_id in range(2)]
    rows = ownership_rows(members(0, (), [client("billing", "c1", *queues, **WORDS)]))
    assert found(rows, OWNERSHIP, "queue_id", *WORDS) == [{"queue_id": queue_id, **WORDS} for queue_id in range(2)]


@pytest.mark.parametrize(("error", "said"), [(None, WORDS), ("timed out", {})])
def test_a_client_without_queues_has_one_row(error, said):
    rows = ownership_rows(members(0, (), [client("billing", "c1", error=error, **said)]))
    expected = {"client_id": "c1", "error": error, "queue_id": None} | dict.fromkeys(WORDS) | said
    assert found(rows, OWNERSHIP, *expected) == [expected]


STATUS = {"consume_ok_tps": 2.5, "consume_failed_tps": 0.5, "consume_rt": 8.0, "pull_rt": 30.0, "pull_tps": 3.0}


def rates(*queues, **said):
    """The rows of one client, by topic."""
    rows = rate_rows(members(0, (), [client("billing", "c1", *queues, **said)]))
    return {row["topic"]: row for row in pa.Table.from_pylist(rows, MEMBER_RATES).to_pylist()}


def test_a_client_s_rates_have_a_row_per_topic_with_what_it_holds_of_it():
    held = [owned("Orders", "broker-a", queue_id, cached_count=3, cached_mib=2) for queue_id in range(2)]
    found = rates(*held, consume_status={"Orders": STATUS | {"consume_failed_messages": 9}, "Idle": STATUS})
    whose = {"cluster": "prod", "taken_at": at(0), "group": "billing", "client_id": "c1", "error": None}
    assert found == {
        "Idle": {**whose, "topic": "Idle", **STATUS, "cached_count": 0, "cached_mib": 0},
        "Orders": {**whose, "topic": "Orders", **STATUS, "cached_count": 6, "cached_mib": 4},
    }


def test_a_queue_that_the_client_has_given_up_is_not_counted():
    gone = owned("Orders", "broker-a", 1, cached_count=3, cached_mib=2, dropped=True)
    found = rates(owned("Orders", "broker-a", 0, cached_count=1, cached_mib=0), gone, consume_status={"Orders": STATUS})
    assert found["Orders"]["cached_count"] == 1


def test_what_one_queue_does_not_tell_is_not_known_of_the_topic():
    held = [
        owned("Orders", "broker-a", 0, cached_count=3, cached_mib=2),
        owned("Orders", "broker-a", 1, cached_count=1),
    ]
    row = rates(*held, consume_status={"Orders": STATUS})["Orders"]
    assert (row["cached_count"], row["cached_mib"]) == (4, None)


def test_what_a_popping_client_holds_is_not_known():
    found = rates(consume_status={"Orders": STATUS}, pop_queues=({"topic": "Orders"},))
    assert (found["Orders"]["consume_ok_tps"], found["Orders"]["cached_count"]) == (2.5, None)


@pytest.mark.parametrize("said", [{"error": "timed out"}, {"consume_status": {}}])
def test_a_client_without_a_topic_has_one_row(said):
    (row,) = rates(**said).values()
    assert (row["client_id"], row["error"], row["consume_ok_tps"]) == ("c1", said.get("error"), None)


def dead(queue_id, end, least):
    return {"topic": "%DLQ%billing", "queue_id": queue_id, "broker_offset": end, "min_offset": least}


def written(tmp_path, *brokers):
    """The lake, and the rows of dead letters in it, after one reading."""
    lake, taken = Lake.at(str(tmp_path)), reading(0, *brokers)
    write_history(lake, reading_rows(taken, None, {}), taken, None)
    return lake, read(lake, "dead_letters", "prod", at(0), at(60)).to_pylist()


def test_every_dead_letter_queue_of_the_brokers_that_were_read_has_a_row(tmp_path):
    first = broker("broker-a", row("billing", "Orders", 0, 1, 1), dead_letters=[dead(0, 12, 2), dead(1, 3, None)])
    _, rows = written(tmp_path, first, broker("broker-b", dead_letters=[dead(0, 5, 0)]), broker("broker-c", error="no"))
    place = {"cluster": "prod", "taken_at": at(0), "topic": "%DLQ%billing"}
    assert rows == [
        {**place, "broker": "broker-a", "queue_id": 0, "broker_offset": 12, "min_offset": 2},
        {**place, "broker": "broker-a", "queue_id": 1, "broker_offset": 3, "min_offset": None},
        {**place, "broker": "broker-b", "queue_id": 0, "broker_offset": 5, "min_offset": 0},
    ]


def test_a_reading_without_dead_letters_leaves_no_file_of_them(tmp_path):
    lake, _ = written(tmp_path, broker("broker-a", row("billing", "Orders", 0, 1, 1)))
    assert files(lake, "dead_letters", "prod", at(0), at(60)) == []
