"""Run as `python -m tests.bench.polling.members_broker GROUPS MEMBERS BROKERS`: brokers that list members and reach
them.

Prints their addresses, one line of JSON; when its input ends, how many calls each held at a time at most. Bodies are
as RocketMQ 5.4.0 writes them, in their sizes: the connections of a group in another order in each answer.
"""

import asyncio
import json
import random
import struct
import sys
from functools import partial

from consumers.rocketmq.wire.codes import RequestCode

BASE_MS = 1_795_245_595_553
QUEUES = 8
# MixAll.object2Properties prints every property of a consumer, most of which nobody reads.
PROPERTIES = {f"someSettingOfAConsumerNumber{number}": f"value-{number}" for number in range(60)}


def group_name(number: int) -> str:
    return f"bench-group-{number:05d}"


def client_id(group: int, member: int) -> str:
    return f"10.{group >> 8}.{group & 255}.{member}@{1000 + member}#719184315151"


def client_address(group: int, member: int, broker: int) -> str:
    return f"10.{group >> 8}.{group & 255}.{member}:{40000 + broker}"


def connections_body(group: int, members: int, broker: int, chance: random.Random) -> bytes:
    connections = [
        {
            "clientAddr": client_address(group, member, broker),
            "clientId": client_id(group, member),
            "language": "JAVA",
            "version": 493,
        }
        for member in range(members)
    ]
    chance.shuffle(connections)
    topics = (f"BenchTopic{group:05d}", f"%RETRY%{group_name(group)}")
    return _json(
        {
            "connectionSet": connections,
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "subscriptionTable": {topic: _subscription(topic) for topic in topics},
        }
    )


def running_info_body(group: int, member: int) -> bytes:
    topic = f"BenchTopic{group:05d}"
    queues = ",".join(_queue(topic, queue) for queue in range(QUEUES))
    properties = PROPERTIES | {
        "PROP_CONSUMEORDERLY": "false",
        "PROP_CONSUMER_START_TIMESTAMP": str(BASE_MS + member),
        "allocateMessageQueueStrategy": "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@7",
        "clientRebalance": "true",
        "messageModel": "CLUSTERING",
    }
    status = {"consumeFailedMsgs": 0, "consumeFailedTPS": 0.0, "consumeOKTPS": 0.6, "consumeRT": 0.1, "pullRT": 11.0}
    rest = {"properties": properties, "statusTable": {topic: status}, "subscriptionSet": [_subscription(topic)]}
    return b'{"mqPopTable":{},"mqTable":{' + queues.encode() + b'},"userConsumerInfo":{},' + _json(rest)[1:]


def _subscription(topic: str) -> dict[str, object]:
    fixed = {"classFilterMode": False, "codeSet": [], "expressionType": "TAG", "subString": "*", "tagsSet": []}
    return {**fixed, "subVersion": BASE_MS, "topic": topic}


def _queue(topic: str, queue: int) -> str:
    numbers = {"cachedMsgCount": 4, "cachedMsgMaxOffset": 1010, "cachedMsgMinOffset": 1007, "cachedMsgSizeInMiB": 0}
    times = {f"last{what}Timestamp": BASE_MS for what in ("Consume", "Lock", "Pull")}
    transaction = {"transactionMsgCount": 0, "transactionMsgMaxOffset": 0, "transactionMsgMinOffset": 0}
    value = {**numbers, "commitOffset": 1007, "droped": False, **times, "locked": True, **transaction}
    return f'{{"brokerName":"broker-a","queueId":{queue},"topic":"{topic}"}}:{_json(value).decode()}'


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class Broker:
    def __init__(self, groups: int, members: int, number: int) -> None:
        chance = random.Random(number)
        self._lists = {group_name(g): connections_body(g, members, number, chance) for g in range(groups)}
        self._says = {client_id(g, m): running_info_body(g, m) for g in range(groups) for m in range(members)}
        self.most = 0

    def answer(self, frame: bytes) -> bytes:
        length = struct.unpack_from(">I", frame)[0] & 0xFFFFFF
        request = json.loads(frame[4 : 4 + length])
        fields = request["extFields"]
        if request["code"] == RequestCode.GET_CONSUMER_CONNECTION_LIST:
            body = self._lists[fields["consumerGroup"]]
        else:
            body = self._says[fields["clientId"]]
        head = b'{"code":0,"flag":1,"language":"JAVA","opaque":%d,"version":493}' % request["opaque"]
        return struct.pack(">II", 4 + len(head) + len(body), len(head)) + head + body


class Connection(asyncio.Protocol):
    """Answers what has arrived in the next turn of the loop: until then it is held."""

    def __init__(self, broker: Broker) -> None:
        self._broker, self._received, self._held = broker, b"", list[bytes]()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while len(self._received) >= 4:
            end = 4 + struct.unpack_from(">I", self._received)[0]
            if len(self._received) < end:
                break
            if not self._held:
                asyncio.get_running_loop().call_soon(self._release)
            self._held.append(self._received[4:end])
            self._received = self._received[end:]
        self._broker.most = max(self._broker.most, len(self._held))

    def _release(self) -> None:
        held, self._held = self._held, []
        self._transport.write(b"".join(map(self._broker.answer, held)))


async def main(groups: int, members: int, brokers: int) -> None:
    loop = asyncio.get_running_loop()
    told = [Broker(groups, members, number) for number in range(brokers)]
    servers = [await loop.create_server(partial(Connection, broker), "127.0.0.1", 0) for broker in told]
    print(json.dumps([f"127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers]), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps([broker.most for broker in told]), flush=True)
    for server in servers:
        server.close()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
