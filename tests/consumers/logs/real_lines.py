"""Lines that real clients and brokers wrote, with what each tells.

`real/` has logs of RocketMQ 5.4.0 and 4.9.7, the first line of each kind: four messages per queue, one that a listener
throws at, one that it answers with null, one that an orderly listener suspends on; a second member that joins and
leaves; a reset.
"""

from datetime import UTC
from pathlib import Path

from consumers.logs.parse.headers import Zones
from consumers.logs.parse.parser import LogParser
from consumers.vocabulary.logs import LogCode, LogRole

REAL = Path(__file__).with_name("real")
UTC_ZONE = Zones(None, UTC)
NONE = (None, None, None)

# Code, group, client id, (topic, broker, queue id), parameters.
Told = tuple[LogCode, str | None, str | None, tuple[str | None, str | None, int | None], dict[str, object]]


def told_by(role: LogRole, body: bytes) -> list[Told]:
    found = LogParser(role, UTC_ZONE).parse(body).found
    return [(LogCode(one.subject.key[0]), *one.subject.key[1:3], one.subject.key[3:], one.params) for one in found]


CLIENT_5: list[Told] = [
    (LogCode.CLIENT_CREATED, None, "192.0.2.2@4920#3094545314392", NONE, {"process": 4920}),
    (LogCode.CONSUMER_STARTED, "billing", None, NONE, {"process": 4920}),
    (LogCode.REBALANCE_NOTIFIED, "billing", None, NONE, {"address": "127.0.0.1:25428", "process": 4920}),
    (LogCode.OFFSET_FORGOTTEN, "slow", None, ("Orders", "broker-a", 3), {"process": 4920}),
    (LogCode.QUEUE_ADDED, "slow", None, ("Orders", "broker-a", 3), {"process": 4920}),
    (
        LogCode.REBALANCED,
        "slow",
        "127.0.0.1@one",
        ("Orders", None, None),
        {"assigned_by": "client", "strategy": "AVG", "queues": 4, "members": 1, "owned": 4, "process": 4920},
    ),
    (LogCode.LOCKED, "steps", None, ("Steps", "broker-a", 1), {"process": 4920}),
    (LogCode.FIRST_PULL, "steps", None, ("Steps", "broker-a", 1), {"offset": 0, "next_offset": 0, "process": 4920}),
    (
        LogCode.CONSUME_NOT_OK,
        "steps",
        None,
        ("Steps", "broker-a", 2),
        {"offset": 1, "message_id": "7F000001000063540000000000000B75", "reconsume_times": 0, "process": 4920},
    ),
    (
        LogCode.CONSUME_RETURNED_NULL,
        "billing",
        None,
        ("Orders", "broker-a", 2),
        {"offset": 1, "message_id": "7F000001000063540000000000000388", "reconsume_times": 0, "process": 4920},
    ),
    (
        LogCode.CONSUME_THREW,
        "billing",
        None,
        ("Orders", "broker-a", 1),
        {
            "exception": "java.lang.IllegalStateException",
            "offset": 0,
            "message_id": "7F0000010000635400000000000002A6",
            "reconsume_times": 0,
            "process": 4920,
        },
    ),
    (LogCode.COMMITTED, "slow", "127.0.0.1@one", ("Orders", "broker-a", 3), {"offset": 0, "process": 4920}),
    (LogCode.COMMITTED_LAST, "slow", "127.0.0.1@one", ("Orders", "broker-a", 3), {"offset": 2, "process": 4920}),
    (LogCode.QUEUE_REMOVED, "slow", None, ("Orders", "broker-a", 3), {"process": 4920}),
    (LogCode.UNLOCKED, "steps", "127.0.0.1@one", ("Steps", "broker-a", 3), {"process": 4920}),
    (LogCode.QUEUE_DROPPED, "steps", None, ("Steps", "broker-a", 2), {"process": 4920}),
    (LogCode.PULL_DROPPED, "billing", None, ("Orders", "broker-a", 3), {"offset": 2, "process": 4920}),
    (
        LogCode.CLIENT_UNREGISTERED,
        "billing",
        None,
        (None, "broker-a", None),
        {"broker_id": 0, "broker_address": "127.0.0.1:25428", "process": 4920},
    ),
    (LogCode.CONSUMER_STOPPED, "billing", None, NONE, {"process": 4920}),
    (
        LogCode.OFFSET_ILLEGAL,
        "billing",
        None,
        ("Orders", "broker-a", 0),
        {"offset": 2, "next_offset": 0, "min_offset": 0, "max_offset": 2, "process": 4920},
    ),
    (LogCode.QUEUE_REMOVED, "billing", None, ("Orders", "broker-a", 0), {"held": "true", "process": 4920}),
    (LogCode.OFFSET_CORRECTED, "billing", None, ("Orders", "broker-a", 0), {"offset": 0, "process": 4920}),
]

CLIENT_4: list[Told] = [
    (LogCode.CLIENT_CREATED, None, "192.0.2.2@6312#3206050017381", NONE, {}),
    (LogCode.CONSUMER_STARTED, "billing", None, NONE, {}),
    (LogCode.REBALANCE_NOTIFIED, "billing", None, NONE, {"address": "127.0.0.1:23552"}),
    (LogCode.OFFSET_FORGOTTEN, "billing", None, ("Orders", "broker-a", 3), {}),
    (LogCode.QUEUE_ADDED, "billing", None, ("Orders", "broker-a", 3), {}),
    (
        LogCode.REBALANCED,
        "billing",
        "127.0.0.1@one",
        ("Orders", None, None),
        {"strategy": "AVG", "queues": 4, "members": 1, "owned": 4},
    ),
    (
        LogCode.CONSUME_RETURNED_NULL,
        "billing",
        None,
        ("Orders", "broker-a", 1),
        {"offset": 1, "message_id": "7F00000100005C0000000000000002C0", "reconsume_times": 0},
    ),
    (
        LogCode.CONSUME_THREW,
        "billing",
        None,
        ("Orders", "broker-a", 0),
        {
            "exception": "java.lang.IllegalStateException",
            "offset": 0,
            "message_id": "7F00000100005C000000000000000210",
            "reconsume_times": 0,
        },
    ),
    (LogCode.LOCKED, "steps", None, ("Steps", "broker-a", 1), {}),
    (LogCode.FIRST_PULL, "steps", None, ("Steps", "broker-a", 1), {"offset": 0, "next_offset": 0}),
    (
        LogCode.CONSUME_NOT_OK,
        "steps",
        None,
        ("Steps", "broker-a", 3),
        {"offset": 1, "message_id": "7F00000100005C0000000000000008EB", "reconsume_times": 0},
    ),
    (LogCode.COMMITTED, "slow", "127.0.0.1@one", ("Orders", "broker-a", 3), {"offset": 2}),
    (LogCode.COMMITTED_LAST, "steps", "127.0.0.1@one", ("Steps", "broker-a", 3), {"offset": 1}),
    (LogCode.QUEUE_REMOVED, "steps", None, ("Steps", "broker-a", 3), {}),
    (LogCode.LOCK_FAILED, "steps", None, ("Steps", "broker-a", 3), {}),
    (LogCode.QUEUE_NOT_ADDED, "steps", None, ("Steps", "broker-a", 3), {"because": "lock"}),
    (LogCode.UNLOCKED, "steps", "127.0.0.1@one", ("Steps", "broker-a", 2), {}),
    (LogCode.QUEUE_DROPPED, None, None, ("Steps", "broker-a", 3), {}),
    (LogCode.PULL_DROPPED, "billing", None, ("Orders", "broker-a", 3), {"offset": 2}),
    (
        LogCode.CLIENT_UNREGISTERED,
        "billing",
        None,
        (None, "broker-a", None),
        {"broker_id": 0, "broker_address": "127.0.0.1:23552"},
    ),
    (LogCode.CONSUMER_STOPPED, "billing", None, NONE, {}),
]

BROKER_5: list[Told] = [
    (
        LogCode.CONSUMER_CONNECTED,
        "billing",
        "127.0.0.1@one",
        NONE,
        {
            "consume_type": "CONSUME_PASSIVELY",
            "message_model": "CLUSTERING",
            "channel": "id: 0x92db94ae, L:/127.0.0.1:25428 - R:/127.0.0.1:52302",
        },
    ),
    (
        LogCode.CONSUMER_REGISTERED,
        "billing",
        None,
        NONE,
        {"address": "127.0.0.1:52302", "consume_type": "CONSUME_PASSIVELY", "message_model": "CLUSTERING"},
    ),
    (LogCode.LOCK_GRANTED, "steps", "127.0.0.1@one", ("Steps", "broker-a", 1), {}),
    (LogCode.LOCK_RELEASED, "steps", "127.0.0.1@one", ("Steps", "broker-a", 2), {}),
    (
        LogCode.CONSUMER_UNREGISTERED,
        "billing",
        "127.0.0.1@two",
        NONE,
        {"channel": "id: 0x2815d99c, L:/127.0.0.1:25428 - R:/127.0.0.1:51350"},
    ),
    (LogCode.RESET_STARTED, "billing", None, ("Orders", None, None), {"address": "127.0.0.1:49026", "timestamp": 0}),
    (LogCode.COMMIT_REFUSED, "billing", None, ("Orders", None, 3), {"offset": 2}),
    (LogCode.GROUP_EMPTY, "billing", None, NONE, {}),
]

BROKER_4: list[Told] = [
    (
        LogCode.CONSUMER_CONNECTED,
        "billing",
        "127.0.0.1@one",
        NONE,
        {
            "consume_type": "CONSUME_PASSIVELY",
            "message_model": "CLUSTERING",
            "channel": "id: 0xf9b6235f, L:/127.0.0.1:23552 - R:/127.0.0.1:46532",
        },
    ),
    (
        LogCode.CONSUMER_REGISTERED,
        "billing",
        None,
        NONE,
        {"consume_type": "CONSUME_PASSIVELY", "message_model": "CLUSTERING"},
    ),
    (LogCode.LOCK_GRANTED, "steps", "127.0.0.1@one", ("Steps", "broker-a", 1), {}),
    (LogCode.LOCK_REFUSED, "steps", "127.0.0.1@two", ("Steps", "broker-a", 3), {"holder": "127.0.0.1@one"}),
    (LogCode.LOCK_RELEASED, "steps", "127.0.0.1@one", ("Steps", "broker-a", 2), {}),
    (
        LogCode.CONSUMER_UNREGISTERED,
        "billing",
        "127.0.0.1@two",
        NONE,
        {"channel": "id: 0x74baaf01, L:/127.0.0.1:23552 - R:/127.0.0.1:44406"},
    ),
    (LogCode.GROUP_EMPTY, "billing", None, NONE, {}),
]

RECORDED = {
    "client_5.log": (LogRole.CLIENT, CLIENT_5),
    "client_4.log": (LogRole.CLIENT, CLIENT_4),
    "broker_5.log": (LogRole.BROKER, BROKER_5),
    "broker_4.log": (LogRole.BROKER, BROKER_4),
}
