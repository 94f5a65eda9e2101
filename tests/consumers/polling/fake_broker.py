"""A peer that answers as a broker and name server of one group do, and counts what it is asked."""

import json
from collections import Counter

from consumers.rocketmq.wire.codes import BULK_OFFSETS_VERSION, RequestCode
from consumers.rocketmq.wire.frames import encode
from tests.consumers.rocketmq.fake_server import commands, reply

VERSION_5_4_0, VERSION_4_9_7 = 493, 407
DATA_VERSION = {"counter": 1, "stateVersion": 0, "timestamp": 1}
QUEUES = {"readQueueNums": 1, "writeQueueNums": 1, "perm": 6, "order": False, "attributes": {}}


def stats(broker, topics, broker_offset=10):
    rows = ",".join(
        f'{{"brokerName":"{broker}","queueId":0,"topic":"{topic}"}}:'
        f'{{"brokerOffset":{broker_offset},"consumerOffset":0,"lastTimestamp":0}}'
        for topic in topics
    )
    return f'{{"consumeTps":0.0,"offsetTable":{{{rows}}}}}'.encode()


class FakeBroker:
    """`refuses`: {code: answer code}; `offset` is the consumer offset; `lists`: {broker id: address} as name server."""

    def __init__(self, name="broker-a", *, offset=7, version=VERSION_5_4_0, refuses=None, lists=None):
        self.name, self.offset, self.version = name, offset, version
        self.refuses = refuses or {}
        self.lists = lists or {}
        self.topics = ("Orders",)
        self.asked = Counter()
        self.silent = False

    async def __call__(self, reader, writer):
        async for command in commands(reader):
            self.asked[RequestCode(command.code)] += 1
            if self.silent:
                continue
            writer.write(encode(self.answer(command)))

    def answer(self, command):
        if command.code in self.refuses:
            return reply(command, self.refuses[command.code], remark="not now", version=self.version)
        fields = {"offset": "0"} if command.code == RequestCode.GET_MIN_OFFSET else {}
        return reply(command, ext_fields=fields, body=self.body(command), version=self.version)

    def body(self, command):
        match command.code:
            case RequestCode.GET_BROKER_CLUSTER_INFO:
                addresses = ",".join(f'{number}:"{address}"' for number, address in self.lists.items())
                broker = f'{{"brokerAddrs":{{{addresses}}},"brokerName":"{self.name}","cluster":"c"}}'
                table = f'{{"{self.name}":{broker}}}'
                return f'{{"brokerAddrTable":{table},"clusterAddrTable":{{"c":["{self.name}"]}}}}'.encode()
            case RequestCode.GET_ALL_TOPIC_CONFIG:
                # A broker has a topic named as its cluster.
                table = {topic: {"topicName": topic, **QUEUES} for topic in (*self.topics, "c")}
                return json.dumps({"dataVersion": DATA_VERSION, "topicConfigTable": table}).encode()
            case RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG:
                return json.dumps({"dataVersion": DATA_VERSION, "subscriptionGroupTable": {}}).encode()
            case RequestCode.GET_ALL_CONSUMER_OFFSET:
                table = ",".join(f'"{topic}@billing":{{0:{self.offset}}}' for topic in self.topics)
                return f'{{"dataVersion":{{}},"offsetTable":{{{table}}}}}'.encode()
            case RequestCode.GET_ALL_DELAY_OFFSET:
                return b'{"dataVersion":{},"offsetTable":{}}'
            case RequestCode.GET_CONSUME_STATS:
                # Before 5.3.2 the list of topics is not looked at.
                bulk = command.ext_fields.get("topicList") if self.version >= BULK_OFFSETS_VERSION else None
                topics = bulk.split(";") if bulk else [command.ext_fields.get("topic")]
                return stats(self.name, [topic for topic in topics if topic])
        return b""
