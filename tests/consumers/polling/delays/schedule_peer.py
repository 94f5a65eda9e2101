"""A broker of delay levels on a real socket: it holds messages by level and counts what it is asked."""

import asyncio
import json
import struct
from collections import Counter
from datetime import timedelta

from consumers.polling.delay_answers import DelayLimits, DelayMemory, DelayOffsets, DelayTurn
from consumers.polling.delay_poller import collect_delays
from consumers.polling.reading import BrokerReading
from consumers.rocketmq.names import group_of_retry_topic
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.connection import ConnectionPool
from tests.consumers.rocketmq.fake_server import answering, reply, served
from tests.readings import T0, at

DELAYS = "1s 5s 10s 30s"
LIMITS = DelayLimits()
T0_MS = int(T0.timestamp() * 1000)
GROUPS = {"billing", "audit"}


def retry_of(group, times=1, stored=-5.0):
    """A failed message of a group, stored `stored` seconds after T0."""
    return f"%RETRY%{group}", times, stored


def delayed(stored=-5.0):
    """An application's own delayed message."""
    return "Orders", 0, stored


def encoded(offset, topic, times, stored):
    stored_ms = T0_MS + int(1000 * stored)
    properties = f"REAL_TOPIC\x01{topic}\x02REAL_QID\x010\x02".encode()
    head = struct.pack(">IIiiqqiq", 0xDAA320A7, 0, 0, 0, offset, 0, 0, stored_ms) + bytes(8)
    tail = struct.pack(">q", stored_ms) + bytes(8) + struct.pack(">iqi", times, 0, 2) + b"hi"
    name = b"SCHEDULE_TOPIC_XXXX"
    content = head + tail + bytes([len(name)]) + name + struct.pack(">h", len(properties)) + properties
    return struct.pack(">i", len(content) + 4) + content


class ScheduleBroker:
    """`levels`: {level: [message]}, the first at offset 0; `delivered`: {level: offset}. `gives`: messages a pull.

    `refuses`: {code: answer's code}; `first`: the offset of the oldest message that is still there, of every level.
    """

    def __init__(self, levels, delivered=None, *, gives=32, refuses=None, wheel=None, first=0):
        self.levels, self.delivered, self.gives, self.first = levels, delivered or {}, gives, first
        self.refuses, self.wheel = refuses or {}, wheel or {}
        self.asked = Counter()
        self.pulled_from = []

    @property
    def offsets(self):
        return DelayOffsets(self.delivered, {level: len(messages) for level, messages in self.levels.items()})

    def answer(self, command):
        code = RequestCode(command.code)
        self.asked[code] += 1
        if code in self.refuses:
            return reply(command, self.refuses[code], remark="not now")
        if code == RequestCode.GET_TIMER_METRICS:
            counts = {topic: {"count": count, "timeStamp": 1} for topic, count in self.wheel.items()}
            return reply(command, body=json.dumps({"timingCount": counts}).encode())
        level = int(command.ext_fields["queueId"]) + 1
        if code == RequestCode.GET_MAX_OFFSET:
            return reply(command, ext_fields={"offset": str(len(self.levels.get(level, [])))})
        if code == RequestCode.QUERY_CONSUME_QUEUE:
            return reply(command, body=self.entries(level, int(command.ext_fields["index"])))
        return self.pull(command, level, int(command.ext_fields["queueOffset"]))

    def entries(self, level, index):
        messages = self.levels[level]
        if not self.first <= index < len(messages):
            return b""
        due = T0_MS + int(1000 * messages[index][2]) + 1000 * [1, 5, 10, 30][level - 1]
        entry = {"physicOffset": 0, "physicSize": 100, "tagsCode": due, "eval": False}
        ends = {"minQueueIndex": self.first, "maxQueueIndex": len(messages)}
        return json.dumps({"queueData": [entry], **ends}).encode()

    def pull(self, command, level, offset):
        self.pulled_from.append((level, offset))
        messages = self.levels[level]
        if offset < self.first:
            fields = {"nextBeginOffset": str(self.first), "minOffset": "0", "maxOffset": "0"}
            return reply(command, ResponseCode.PULL_OFFSET_MOVED, ext_fields=fields)
        until = min(offset + min(self.gives, int(command.ext_fields["maxMsgNums"])), len(messages))
        fields = {"nextBeginOffset": str(until), "minOffset": str(self.first), "maxOffset": str(len(messages))}
        found = [encoded(n, *messages[n]) for n in range(offset, until)]
        return reply(command, 0 if found else ResponseCode.PULL_NOT_FOUND, ext_fields=fields, body=b"".join(found))


def collect(broker, *seconds, **more):
    """What each of several readings says of broker-a."""
    return [part for reading in collected(broker, *seconds, **more) for part in reading.brokers]


def collected(broker, *seconds, limits=LIMITS, configured=DELAYS, before=None, **part):
    """Readings one after the other; `before` is called with the number of each."""
    memory = DelayMemory()

    async def main():
        found = []
        async with served(answering(broker.answer)) as address, ConnectionPool() as pool:
            for number, second in enumerate(seconds or (0,)):
                if before is not None:
                    before(number)
                values = {"delays": broker.offsets, "address": address} | part
                one = BrokerReading("broker-a", values.pop("address"), **values)
                turn = DelayTurn(pool, limits, {"broker-a": configured}, group_of, at(second), 1.0)
                found.append(await collect_delays(turn, [one], memory))
        return found

    return asyncio.run(main())


def group_of(topic):
    return group_of_retry_topic(topic, GROUPS, {"Orders"})


def after(seconds):
    return T0 + timedelta(seconds=seconds)
