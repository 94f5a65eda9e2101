"""What a reading of members leaves in the lake."""

import pyarrow as pa
import pytest

from consumers.lake.schemas import MEMBERSHIP, OWNERSHIP
from consumers.polling.record.history import membership_rows, ownership_rows
from tests.readings import at, client, group_members, members, owned

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
