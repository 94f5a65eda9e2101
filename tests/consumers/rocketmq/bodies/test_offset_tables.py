"""Offsets of a whole broker as columns: the quick way, the general way, and that they agree."""

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from consumers.rocketmq.bodies.offsets import (
    BROKER_OFFSETS,
    CONSUMER_OFFSETS,
    broker_offsets_table,
    consumer_offsets_table,
)
from consumers.rocketmq.wire.codes import RemoteProtocolError
from tests.consumers.rocketmq.golden import golden

HEAD = b'{"dataVersion":{"counter":0},"groupTopicMap":{"g":["T","offsetTable"]},"offsetTable":'


def rows(table: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def entry(queue_id: int, topic: str, offset: int, more: str = "") -> str:
    return (
        f'{{"brokerName":"broker-a","queueId":{queue_id},"topic":"{topic}"}}:'
        f'{{"brokerOffset":{offset},"consumerOffset":0,"lastTimestamp":0{more}}}'
    )


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param(b"{}", [], id="no group at all"),
        pytest.param(b'{"T@g":{}}', [], id="a group without a queue"),
        pytest.param(
            b'{"T@g":{0:10,1:9223372036854775807},"U@h":{},"%RETRY%g@g":{0:4}}',
            [("g", "T", 0, 10, False), ("g", "T", 1, 2**63 - 1, False), ("g", "%RETRY%g", 0, 4, False)],
            id="as brokers write it",
        ),
        pytest.param(
            b'{"T@g":{0:10},"T@g@broadcast":{0:7}}',
            [("g", "T", 0, 10, False), ("g", "T", 0, 7, True)],
            id="what broadcasting clients report",
        ),
        pytest.param(b'{"T@g@x":{0:1}}', [("g@x", "T", 0, 1, False)], id="a third part that means nothing"),
        pytest.param(b'{"T@g":{0:-1}}', [("g", "T", 0, -1, False)], id="a negative offset, as it came"),
        pytest.param(
            b'{ "T@g": {\n 0 : 10 ,\t1 : 11 } }', [("g", "T", 0, 10, False), ("g", "T", 1, 11, False)], id="spaces"
        ),
        pytest.param(b'{"T@g":{"0":10}}', [("g", "T", 0, 10, False)], id="quoted queue ids"),
        pytest.param(rb'{"T\u0040g":{0:10}}', [("g", "T", 0, 10, False)], id="an escaped key"),
    ],
)
def test_it_reads_consumer_offsets(table: bytes, expected: list[tuple[object, ...]]) -> None:
    read = consumer_offsets_table(HEAD + table + b"}")
    assert read.schema == CONSUMER_OFFSETS
    assert rows(read) == expected


def test_it_reads_consumer_offsets_wherever_the_table_stands() -> None:
    assert rows(consumer_offsets_table(b'{"offsetTable":{"T@g":{0:1}},"dataVersion":{}}')) == [("g", "T", 0, 1, False)]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"dataVersion":{}}', id="no table"),
        pytest.param(b'{"offsetTable":null}', id="no table but null"),
        pytest.param(HEAD + b'{"T":{0:1}}}', id="a key that names no group"),
        pytest.param(HEAD + b'{"T@g":{0:1}"U@g":{0:1}}}', id="no comma"),
        pytest.param(HEAD + b'{"T@g":{0:1}x"U@g":{0:1}}}', id="a letter for a comma"),
        pytest.param(HEAD + b'{"T@g":{0:1},}}', id="a comma too many"),
        pytest.param(HEAD + b'{"T@g":{0:1,,1:1}}}', id="a comma too many within"),
        pytest.param(HEAD + b'{"T@g":{0:1:2}}}', id="a colon too many"),
        pytest.param(HEAD + b'{"T@g":{0:}}}', id="no offset"),
        pytest.param(HEAD + b'{"T@g":{0:null}}}', id="an offset that is null"),
        pytest.param(HEAD + b'{"T@g":{0:"1"}}}', id="an offset that is text"),
        pytest.param(HEAD + b'{"T@g":{0:1.5}}}', id="half an offset"),
        pytest.param(HEAD + b'{"T@g":{0:9223372036854775808}}}', id="an offset of 65 bits"),
        pytest.param(HEAD + b'{"T@g":{2147483648:1}}}', id="a queue id of 33 bits"),
        pytest.param(HEAD + b'{"T@g":{0:1},"T@g":{0:2}}}', id="a group that comes twice"),
        pytest.param(HEAD + b'{"T@\xff":{0:1}}}', id="bad UTF-8"),
        pytest.param(HEAD + b'{"T@g":{0:1}}', id="no end"),
        pytest.param(b'{x"offsetTable":{"T@g":{0:1}}}', id="a head that is not JSON"),
    ],
)
def test_it_refuses_consumer_offsets(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        consumer_offsets_table(body)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param([], [], id="no queue"),
        pytest.param([entry(3, "T", 11, ',"pullOffset":0')], [("T", "broker-a", 3, 11)], id="as 5.1.0 and later write"),
        pytest.param([entry(3, "T", 11)], [("T", "broker-a", 3, 11)], id="as earlier brokers write"),
        pytest.param(
            [entry(0, "T", 1), entry(1, "%RETRY%g", 2)],
            [("T", "broker-a", 0, 1), ("%RETRY%g", "broker-a", 1, 2)],
            id="two topics",
        ),
        pytest.param([entry(0, "T", 2**63 - 1)], [("T", "broker-a", 0, 2**63 - 1)], id="a very large offset"),
        pytest.param(
            ['{"topic":"T","queueId":2,"brokerName":"b"}:{"lastTimestamp":0,"brokerOffset":5}'],
            [("T", "b", 2, 5)],
            id="fields in another order",
        ),
        pytest.param([" " + entry(0, "T", 1)], [("T", "broker-a", 0, 1)], id="a space"),
    ],
)
def test_it_reads_broker_offsets(entries: list[str], expected: list[tuple[object, ...]]) -> None:
    read = broker_offsets_table(('{"consumeTps":0.0,"offsetTable":{' + ",".join(entries) + "}}").encode())
    assert read.schema == BROKER_OFFSETS
    assert rows(read) == expected


@pytest.mark.parametrize(
    "table",
    [
        pytest.param("{" + entry(0, "T", 1) + ";" + entry(1, "T", 1) + "}", id="a semicolon for a comma"),
        pytest.param("{" + entry(0, "T", 1) + entry(1, "T", 1) + "}", id="no comma"),
        pytest.param("{" + entry(0, "T", 2**63) + "}", id="an offset of 65 bits"),
        pytest.param("{" + entry(2**31, "T", 1) + "}", id="a queue id of 33 bits"),
        pytest.param('{{"brokerName":"b","topic":"T"}:{"brokerOffset":1}}', id="no queue id"),
        pytest.param('{{"brokerName":"b","queueId":0,"topic":"T"}:{"consumerOffset":1}}', id="no broker offset"),
        pytest.param('{"T":{"brokerOffset":1}}', id="a key that is no queue"),
        pytest.param("null", id="null"),
    ],
)
def test_it_refuses_broker_offsets(table: str) -> None:
    with pytest.raises(RemoteProtocolError):
        broker_offsets_table(f'{{"consumeTps":0.0,"offsetTable":{table}}}'.encode())


def test_it_reads_the_consumer_offsets_of_a_real_broker() -> None:
    orders = [("orders", 0, 10), ("orders", 1, 11), ("orders", 2, 12), ("orders", 3, 13)]
    assert rows(consumer_offsets_table(golden("consumer_offsets_43").body)) == [
        *(("failing", *queue, False) for queue in orders),
        *(("billing", *queue, False) for queue in orders),
        *(("audit", *queue, False) for queue in orders),
        ("failing", "%RETRY%failing", 0, 46, False),
        *(("crowd", *queue, True) for queue in orders),
        ("billing", "quiet", 0, 0, False),
    ]


def test_it_reads_the_broker_offsets_of_a_real_broker() -> None:
    assert sorted(rows(broker_offsets_table(golden("broker_offsets_208").body))) == [
        ("%RETRY%failing", "broker-a", 0, 46),
        *(("orders", "broker-a", queue_id, 10 + queue_id) for queue_id in range(4)),
        ("quiet", "broker-a", 0, 0),
        ("quiet", "broker-a", 1, 0),
    ]


NAMES = st.text("abcXYZ09%|_-+", min_size=1, max_size=8)
INT64 = st.integers(-(2**63), 2**63 - 1)
QUEUES = st.dictionaries(st.integers(0, 2**31 - 1), INT64, max_size=4)


@given(st.dictionaries(st.tuples(NAMES, NAMES, st.booleans()), QUEUES, max_size=5))
def test_every_table_of_consumer_offsets_comes_back(groups: dict[tuple[str, str, bool], dict[int, int]]) -> None:
    table = ",".join(
        f'"{topic}@{group}{"@broadcast" * broadcast}":{{'
        + ",".join(f"{q}:{offset}" for q, offset in queues.items())
        + "}"
        for (topic, group, broadcast), queues in groups.items()
    )
    assert rows(consumer_offsets_table(HEAD + f"{{{table}}}}}".encode())) == [
        (group, topic, queue_id, offset, broadcast)
        for (topic, group, broadcast), queues in groups.items()
        for queue_id, offset in queues.items()
    ]


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=3), st.integers(0, 4))
def test_a_damaged_body_is_a_table_or_a_refusal(at: int, damage: bytes, removed: int) -> None:
    for name, read in (("consumer_offsets_43", consumer_offsets_table), ("broker_offsets_208", broker_offsets_table)):
        body = bytearray(golden(name).body)
        at %= len(body)
        body[at : at + removed] = damage
        try:
            table = read(bytes(body))
        except RemoteProtocolError:
            continue
        assert table.schema in (CONSUMER_OFFSETS, BROKER_OFFSETS)
