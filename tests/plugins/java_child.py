"""Run as a script: a JVM with RocketMQ's own client that does what lines of JSON on standard input ask.

{"call": "create_topic", "arguments": {"name": "Orders", "queues": 4}}  →  {"result": null} or {"error": "…"}
"""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from jpype import JClass

from dashboard.demo.actors.actor import reserve_stdout, start_jvm
from dashboard.demo.actors.consuming import Consumer
from dashboard.demo.actors.producing import Producer
from dashboard.demo.administration import Administration
from dashboard.demo.java import find_java
from dashboard.demo.shop import Handler, Membership
from tests.plugins.answering import serve
from tests.plugins.java_allocation import REBALANCE, java_shares

DISPATCHED_SECONDS = 120.0


class Calls:
    """One method for each call that a test may make."""

    def __init__(self, namesrv: str, brokers: dict[str, str]) -> None:
        self._namesrv, self._brokers = namesrv, brokers
        self._administration = Administration(namesrv, brokers)
        self._producer = Producer(namesrv, "test-producer")
        self._consumers: dict[str, Consumer] = {}
        self.create_topic = self._administration.create_topic
        self.create_group = self._administration.create_group
        self.set_offset = self._administration.set_offset
        self.let_pop = self._administration.let_pop
        self.reset_by_time = self._administration.reset_by_time
        self.statistic = self._administration.statistic
        self.consume_status = self._administration.consume_status

    def send(
        self, topic: str, broker: str, queue_id: int, count: int, size: int = 20, tags: str = "", awaited: bool = True
    ) -> list[int]:
        """The offsets of the messages, which can be consumed from then on; without `awaited` perhaps not yet."""
        body = b"x" * size
        # A test before this one may have killed the broker.
        self._producer.look_up(topic)
        offsets = [
            self._producer.send(topic, body, tags=tags, keys=f"key-{number}", queue=(broker, queue_id))[2]
            for number in range(count)
        ]
        # A broker answers once a message is in its log, and puts it into its queue somewhat later.
        give_up = time.monotonic() + DISPATCHED_SECONDS
        while awaited and offsets and self.queue_end(topic, broker, queue_id) <= offsets[-1]:
            if time.monotonic() > give_up:
                raise TimeoutError(f"{broker} did not dispatch {topic}-{queue_id}-{offsets[-1]}.")
            time.sleep(0.005)
        return offsets

    def ask(self, broker: str, code: int) -> str:
        """The body that RocketMQ's own remoting client is given for a request without fields."""
        client = self._administration.remoting_client()
        request = JClass("org.apache.rocketmq.remoting.protocol.RemotingCommand").createRequestCommand(code, None)
        answer = client.invokeSync(self._brokers[broker], request, 5000)
        return bytes(answer.getBody()).decode()

    def queue_end(self, topic: str, broker: str, queue_id: int) -> int:
        """The offset that the next message of the queue will have, as the broker tells RocketMQ's own client."""
        header = JClass("org.apache.rocketmq.remoting.protocol.header.GetMaxOffsetRequestHeader")()
        header.setTopic(topic)
        header.setQueueId(JClass("java.lang.Integer").valueOf(queue_id))
        request = JClass("org.apache.rocketmq.remoting.protocol.RemotingCommand").createRequestCommand(30, header)
        answer = self._administration.remoting_client().invokeSync(self._brokers[broker], request, 5000)
        return int(str(answer.getExtFields().get("offset")))

    def stored_messages(self, topic: str, broker: str, queue_id: int, offset: int) -> list[dict[str, Any]]:
        """Up to 32 messages from the offset on, as RocketMQ's own decoder reads them."""
        request = JClass("org.apache.rocketmq.remoting.protocol.RemotingCommand").createRequestCommand(11, None)
        fields = JClass("java.util.HashMap")()
        wanted = {"consumerGroup": "TOOLS_CONSUMER", "topic": topic, "queueId": queue_id, "queueOffset": offset}
        wanted |= {"maxMsgNums": 32, "sysFlag": 4, "commitOffset": 0, "suspendTimeoutMillis": 0, "subVersion": 0}
        for name, value in (wanted | {"subscription": "*"}).items():
            fields.put(name, str(value))
        request.setExtFields(fields)
        answer = self._administration.remoting_client().invokeSync(self._brokers[broker], request, 5000)
        if answer.getBody() is None:
            return []
        buffer = JClass("java.nio.ByteBuffer").wrap(answer.getBody())
        found = JClass("org.apache.rocketmq.common.message.MessageDecoder").decodes(buffer)
        return [_told(message) for message in found]

    def start_consumer(self, consume: str, **membership: Any) -> None:
        """`consume` is what its handler does: "all" succeeds, "none" fails every message, "held" never ends."""
        handlers: dict[str, Handler] = {
            "all": lambda _: True,
            "none": lambda _: False,
            "held": lambda _: threading.Event().wait(),
        }
        handler = handlers[consume]
        wanted = Membership(**membership)
        self._consumers[wanted.instance] = Consumer(self._namesrv, wanted, handler)

    def stop_consumer(self, instance: str) -> None:
        self._consumers.pop(instance).shutdown()

    def allocate(
        self, strategy: str, queues: list[tuple[str, str, int]], clients: list[str], client: str
    ) -> list[list[Any]]:
        """What RocketMQ's own strategy class gives `client`; queues are (topic, broker, queue id), in sorted order."""
        array_list = JClass("java.util.ArrayList")
        message_queue = JClass("org.apache.rocketmq.common.message.MessageQueue")
        all_queues, all_clients = array_list(), array_list()
        for topic, broker, queue_id in queues:
            all_queues.add(message_queue(topic, broker, queue_id))
        for one in clients:
            all_clients.add(one)
        given = JClass(REBALANCE + strategy)().allocate("group", client, all_queues, all_clients)
        return [[str(one.getTopic()), str(one.getBrokerName()), int(one.getQueueId())] for one in given]

    def allocate_many(self, cases: list[dict[str, Any]]) -> list[list[str]]:
        """By case, what RocketMQ's own strategy class gives each client: see java_allocation."""
        return [java_shares(case) for case in cases]

    def compressed(self, kind: str, body: str) -> str:
        """What RocketMQ's own compressor makes of a body; both as hexadecimal bytes."""
        package = "org.apache.rocketmq.common.compression."
        compressor = JClass(package + "CompressorFactory").getCompressor(JClass(package + "CompressionType").of(kind))
        return bytes(compressor.compress(bytes.fromhex(body), 5)).hex()


def _told(message: Any) -> dict[str, Any]:
    said = {str(name): str(value) for name, value in message.getProperties().items()}
    return {
        "queue_id": int(message.getQueueId()),
        "offset": int(message.getQueueOffset()),
        "stored_id": str(message.getOffsetMsgId()),
        "message_id": str(message.getMsgId()),
        "keys": str(message.getKeys()),
        "tags": None if message.getTags() is None else str(message.getTags()),
        "reconsume_times": int(message.getReconsumeTimes()),
        "born_ms": int(message.getBornTimestamp()),
        "stored_ms": int(message.getStoreTimestamp()),
        "size": len(message.getBody()),
        "properties": said,
    }


def main(namesrv: str, brokers: dict[str, str], jars: Path, folder: Path) -> None:
    answers = reserve_stdout()
    start_jvm(find_java(), jars, folder)
    serve(Calls(namesrv, brokers), answers)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
