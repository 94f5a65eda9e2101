"""What a reading of members, and of dead letters, leaves in the lake."""

import pyarrow as pa
import pytest

from consumers.lake.reader import files, read
from consumers.lake.schemas import MEMBERSHIP, OWNERSHIP
from consumers.lake.store import Lake
from consumers.polling.record.history import membership_rows, ownership_rows, reading_rows, write_history
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
