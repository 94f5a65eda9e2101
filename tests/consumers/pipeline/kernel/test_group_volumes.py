"""A group's volumes are sums over its queues; one queue that is not known makes the sum unknown."""

import pyarrow as pa
import pytest

from consumers.pipeline.kernel.group_windows import whole_group_windows
from consumers.pipeline.known import UNREAD
from consumers.pipeline.volumes import TOPICS
from consumers.vocabulary.states import UnknownReason
from tests.pipeline_rows import PLACE, at, table

VOLUMES = ("into_retry", "out_of_retry", "into_dlq", "consumed")
WHY = "consumer_went_back"


def queue(consumed, produced, topic="Orders", why=None, **fields):
    """One queue's window: (messages out, messages in)."""
    kind = "retry" if topic.startswith("%RETRY%") else "normal"
    values = {"start": at(0), "lag_messages": 0, "time_lag_seconds": 0.0, "time_lag_kind": "exact", "readings": 4}
    values |= {"kind": kind, "topic": topic, "consumed": consumed, "produced": produced, "volume_unknown": why}
    return {**PLACE, **values, **fields}


OWN = queue(10, 12)
# By case: windows of queues, messages into the dead letters with their reason, (has a retry topic, a dead-letter one),
# whether a broker was not read; then the volumes, and the reasons of those that are null.
CASES = {
    "all known": (
        [OWN, queue(5, 5, queue_id=1), queue(2, 3, "%RETRY%billing")],
        (1, None),
        (True, True),
        False,
        (3, 2, 1, 15),
        {},
    ),
    "retry topics of members that pop, under both names": (
        [OWN, queue(1, 2, "%RETRY%billing_Orders"), queue(4, 8, "%RETRY%billing+Orders")],
        (0, None),
        (True, True),
        False,
        (10, 5, 0, 10),
        {},
    ),
    "a retry queue is not known": (
        [OWN, queue(1, 2, "%RETRY%billing"), queue(None, 3, "%RETRY%billing", WHY, queue_id=1)],
        (0, None),
        (True, True),
        False,
        (5, None, 0, 10),
        {"out_of_retry": WHY},
    ),
    "an own queue is not known": (
        [OWN, queue(None, 3, why=WHY, queue_id=1)],
        (None, "no reading before"),
        (False, True),
        False,
        (0, 0, None, None),
        {"into_dlq": "no reading before", "consumed": WHY},
    ),
    "no broker has such topics": ([OWN], None, (False, False), False, (0, 0, 0, 10), {}),
    "nobody asked for its topics": (
        [OWN],
        None,
        None,
        False,
        (None, None, None, 10),
        dict.fromkeys(VOLUMES[:3], "topics_unread"),
    ),
    "its topics were not read": (
        [OWN],
        None,
        (True, True),
        False,
        (None, None, None, 10),
        dict.fromkeys(VOLUMES[:2], "retry_unread") | {"into_dlq": "dead_letters_unread"},
    ),
    "a broker was not read": (
        [OWN, queue(2, 3, "%RETRY%billing")],
        (1, None),
        (True, True),
        True,
        (None,) * 4,
        dict.fromkeys(VOLUMES, "broker_unread"),
    ),
    "it never committed": (
        [queue(0, 3, unknown_reason=UnknownReason.NEVER_COMMITTED)],
        None,
        (False, False),
        False,
        (0, 0, 0, None),
        {"consumed": UnknownReason.NEVER_COMMITTED},
    ),
    "windows from before volumes were recorded": (
        [queue(None, None)],
        None,
        (False, False),
        False,
        (0, 0, 0, None),
        {"consumed": "not_recorded"},
    ),
    "only its retry topic was read": (
        [queue(2, 3, "%RETRY%billing")],
        None,
        (True, False),
        False,
        (3, 2, 0, None),
        {"consumed": "no_own_queue"},
    ),
}
DEAD_SUMS = pa.schema([*UNREAD, ("messages", pa.int64()), ("unknown", pa.string())])


@pytest.fixture(scope="module")
def found():
    key = {name: {"cluster": "prod", "group": name} for name in CASES}
    windows = [one | key[name] for name, case in CASES.items() for one in case[0]]
    dead = [
        {**key[name], "start": at(0), "messages": case[1][0], "unknown": case[1][1]}
        for name, case in CASES.items()
        if case[1] is not None
    ]
    topics = [{**key[name], "has_retry": case[2][0], "has_dead": case[2][1]} for name, case in CASES.items() if case[2]]
    unread = [{**key[name], "start": at(0)} for name, case in CASES.items() if case[3]]
    known = [pa.Table.from_pylist(*one) for one in ((unread, UNREAD), (dead, DEAD_SUMS), (topics, TOPICS))]
    rows = whole_group_windows(table("windows_60", windows), *known).to_pylist()
    return {row["group"]: row for row in rows}


@pytest.mark.parametrize("case", CASES)
def test_it_sums(found, case):
    row = found[case]
    *_, volumes, unknown = CASES[case]
    assert tuple(row[name] for name in VOLUMES) == volumes
    assert {name: row[f"{name}_unknown"] for name in VOLUMES if row[name] is None} == unknown
