"""Builds readings by hand, as a poll would hand them to the recorder."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa

from consumers.polling.reading import (
    BrokerListing,
    BrokerReading,
    ClientReading,
    GroupMembers,
    Member,
    MembersReading,
    OffsetsReading,
    OwnedQueue,
)
from consumers.rocketmq.bodies.config_bodies import GroupConfig, TopicConfig

T0 = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
ROW = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("queue_id", pa.int32()),
        ("kind", pa.string()),
        ("consumer_offset", pa.int64()),
        ("broker_offset", pa.int64()),
        ("min_offset", pa.int64()),
        ("unknown_reason", pa.string()),
    ]
)
# As the wire gives it: topics are dictionary-encoded, in a table without rows too.
DEAD = pa.schema(
    [
        ("topic", pa.dictionary(pa.int32(), pa.string())),
        ("queue_id", pa.int32()),
        ("broker_offset", pa.int64()),
        ("min_offset", pa.int64()),
    ]
)


def at(seconds):
    return T0 + timedelta(seconds=seconds)


def row(group, topic, queue_id, consumer_offset, broker_offset, **more):
    return {
        "group": group,
        "topic": topic,
        "queue_id": queue_id,
        "kind": "normal",
        "consumer_offset": consumer_offset,
        "broker_offset": broker_offset,
        "min_offset": 0,
        **more,
    }


def broker(name, *rows, dead_letters=(), error=None, lists=None, **more):
    """`lists`: names of groups, and {topic: read queues}, as the broker gives them when it is asked for them."""
    if error is not None:
        return BrokerReading(name=name, address="127.0.0.1:1", error=error)
    if lists is not None:
        groups, topics = lists
        unsaid = dict.fromkeys(GroupConfig.__dataclass_fields__)
        more["groups"] = tuple(GroupConfig(**unsaid | {"name": group, "consume_enable": True}) for group in groups)
        more["topics"] = tuple(TopicConfig(*one, one[1], 6, order=False, attributes=None) for one in topics.items())
    return BrokerReading(
        name=name,
        address="127.0.0.1:1",
        version="V5_4_0",
        rows=pa.Table.from_pylist(list(rows), ROW),
        dead_letters=pa.Table.from_pylist(list(dead_letters), DEAD),
        **more,
    )


def reading(seconds, *brokers, cluster="prod"):
    return OffsetsReading(
        cluster=cluster,
        taken_at=at(seconds),
        brokers=brokers,
        listed=tuple(BrokerListing(b.name, 0, "127.0.0.1:1") for b in brokers),
        calls=2 * len(brokers),
        bytes=1000,
        seconds=0.01,
    )


def member(client_id, address="10.0.0.1:5000", **connections):
    """Connected to broker-a alone, unless other brokers' lists are given: broker_a=("10.0.0.1:5000",)."""
    named = {name.replace("_", "-"): addresses for name, addresses in connections.items()}
    return Member(client_id, address, "JAVA", "V5_4_0", "127.0.0.1:1", named or {"broker-a": (address,)})


def group_members(group, *client_ids, error=None, message_model="CLUSTERING", **more):
    online = bool(client_ids)
    return GroupMembers(
        group=group,
        members=tuple(member(client_id) for client_id in client_ids),
        consume_type="CONSUME_PASSIVELY" if online else None,
        message_model=message_model if online else None,
        consume_from_where="CONSUME_FROM_LAST_OFFSET" if online else None,
        subscriptions=({"topic": "Orders", "expression": "*", "expression_type": "TAG"},) if online else (),
        error=error,
        **{"answered_by": ("broker-a",)} | more,
    )


def owned(topic, broker_name, queue_id, **more):
    values = dict.fromkeys(OwnedQueue.__dataclass_fields__) | {"dropped": False} | more
    return OwnedQueue(**values | {"topic": topic, "broker": broker_name, "queue_id": queue_id})


def client(group, client_id, *queues, error=None, **more):
    return ClientReading(group=group, client_id=client_id, error=error, queues=queues, **more)


def members(seconds, groups=(), clients=(), cluster="prod"):
    return MembersReading(cluster=cluster, taken_at=at(seconds), groups=tuple(groups), clients=tuple(clients))
