"""One broker's answers joined into rows."""

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from consumers.polling.brokers.joined import join_rows, kind_in_group
from consumers.rocketmq.wire.codes import RemoteProtocolError


def offsets(*rows):
    """(group, topic, queue_id, consumer_offset[, broadcast])"""
    rows = [(*row, False)[:5] for row in rows]
    names = ["group", "topic", "queue_id", "consumer_offset", "broadcast"]
    types = [pa.string(), pa.string(), pa.int32(), pa.int64(), pa.bool_()]
    return pa.table(
        {n: pa.array([row[i] for row in rows], t) for i, (n, t) in enumerate(zip(names, types, strict=True))}
    )


def ends(*rows):
    """(topic, queue_id, broker_offset)"""
    return pa.table(
        {
            "topic": pa.array([row[0] for row in rows], pa.string()),
            "queue_id": pa.array([row[1] for row in rows], pa.int32()),
            "broker_offset": pa.array([row[2] for row in rows], pa.int64()),
        }
    )


def subscribed(*rows):
    return pa.table(
        {"group": pa.array([r[0] for r in rows], pa.string()), "topic": pa.array([r[1] for r in rows], pa.string())}
    )


def joined(*args):
    return [
        (r["group"], r["topic"], r["queue_id"], r["consumer_offset"], r["broker_offset"], r["unknown_reason"])
        for r in join_rows(*args).to_pylist()
    ]


def test_it_joins_both_offsets_of_a_queue():
    rows = joined(offsets(("g", "T", 0, 7)), ends(("T", 0, 10)), subscribed(), {"T": 1})
    assert rows == [("g", "T", 0, 7, 10, None)]


def test_a_queue_without_a_commit_is_never_committed_and_not_zero():
    rows = joined(offsets(("g", "T", 0, 7)), ends(("T", 0, 10), ("T", 1, 4)), subscribed(), {"T": 2})
    assert rows[1] == ("g", "T", 1, None, 4, "never_committed")


def test_a_subscribed_topic_without_any_commit_is_never_committed():
    rows = joined(offsets(), ends(("T", 0, 10)), subscribed(("g", "T")), {"T": 1})
    assert rows == [("g", "T", 0, None, 10, "never_committed")]


def test_an_offset_of_a_deleted_topic_has_no_lag():
    rows = joined(offsets(("g", "Gone", 0, 7)), ends(), subscribed(), {})
    assert rows == [("g", "Gone", 0, 7, None, "topic_gone")]


def test_an_offset_beyond_the_read_queues_has_no_lag():
    rows = joined(offsets(("g", "T", 1, 7)), ends(("T", 0, 1)), subscribed(), {"T": 1})
    assert ("g", "T", 1, 7, None, "queue_gone") in rows


def test_a_queue_that_the_broker_left_out_is_unknown():
    rows = joined(offsets(("g", "T", 0, 7)), ends(), subscribed(), {"T": 1})
    assert rows == [("g", "T", 0, 7, None, "no_broker_offset")]


def test_a_consumer_ahead_of_the_broker_is_an_anomaly():
    rows = joined(offsets(("g", "T", 0, 12)), ends(("T", 0, 10)), subscribed(), {"T": 1})
    assert rows == [("g", "T", 0, 12, 10, "consumer_ahead")]


def test_a_broadcasting_group_is_not_never_committed_where_it_has_no_entry():
    rows = joined(offsets(("g", "T", 0, 7, True)), ends(("T", 0, 10), ("T", 1, 4)), subscribed(), {"T": 2})
    assert rows == [("g", "T", 0, 7, 10, None)]


def test_nothing_read_gives_no_rows():
    assert joined(offsets(), ends(), subscribed(), {}) == []


@pytest.mark.parametrize("queue_id", [-1, 1 << 20])
def test_a_queue_id_that_no_queue_has_is_the_brokers_fault(queue_id):
    with pytest.raises(RemoteProtocolError, match="queue id"):
        joined(offsets(("g", "T", queue_id, 7)), ends(), subscribed(), {"T": 1})


@pytest.mark.parametrize(
    ("group", "topic", "kind"),
    [
        ("g", "Orders", "normal"),
        ("g", "%RETRY%g", "retry"),
        ("g", "%RETRY%g_Orders", "retry"),
        ("g", "%RETRY%g+Orders", "retry"),
        ("auditor", "%RETRY%g", "normal"),
        ("g", "%DLQ%g", "dlq"),
        ("auditor", "%DLQ%g", "normal"),
        ("g", "SCHEDULE_TOPIC_XXXX", "system"),
    ],
)
def test_a_topics_kind_is_as_the_group_sees_it(group, topic, kind):
    assert kind_in_group(group, topic) == kind


names = st.sampled_from(["a", "b", "c"])
queue_ids = st.integers(0, 3)


@given(
    st.dictionaries(st.tuples(names, names, queue_ids), st.integers(0, 99)),
    st.dictionaries(st.tuples(names, queue_ids), st.integers(0, 99)),
    st.sets(st.tuples(names, names)),
)
def test_every_offset_and_every_expected_queue_is_one_row(committed, produced, wanted):
    rows = join_rows(
        offsets(*((*key, value) for key, value in committed.items())),
        ends(*((*key, value) for key, value in produced.items())),
        subscribed(*wanted),
        dict.fromkeys(["a", "b", "c"], 4),
    ).to_pylist()
    pairs = {(group, topic) for group, topic, _ in committed} | wanted
    expected = {(group, topic, q) for group, topic in pairs for t, q in produced if t == topic}
    assert sorted((r["group"], r["topic"], r["queue_id"]) for r in rows) == sorted(expected | committed.keys())
    for row in rows:
        key = (row["group"], row["topic"], row["queue_id"])
        assert row["consumer_offset"] == committed.get(key)
        assert row["broker_offset"] == produced.get(key[1:])
        assert (row["unknown_reason"] is None) == (
            key in committed and key[1:] in produced and committed[key] <= produced[key[1:]]
        )


def test_rows_are_in_the_order_of_group_topic_and_queue():
    read = offsets(("z", "T", 1, 0), ("z", "T", 0, 0), ("a", "U", 0, 0), ("z", "S", 0, 0), ("a", "T", 0, 0))
    rows = joined(read, ends(("T", 0, 1), ("T", 1, 1), ("U", 0, 1), ("S", 0, 1)), subscribed(), {"T": 2})
    keys = [row[:3] for row in rows]
    assert keys == sorted(keys)
    assert len(keys) == 6
