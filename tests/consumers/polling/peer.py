"""A broker of single queues, on a real socket: answers what a test gives it, and notes what it was asked."""

import asyncio
import struct

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.connection import ConnectionPool
from tests.consumers.rocketmq.fake_server import answering, reply, served


def stored(offset, stored_ms, topic=b"Orders"):
    """A stored message as a pull gives it."""
    head = struct.pack(">IIiiqqiq", 0xDAA320A7, 0, 0, 0, offset, 0, 0, stored_ms) + bytes(8)
    tail = struct.pack(">q", stored_ms) + bytes(8) + struct.pack(">iqi", 0, 0, 2) + b"hi"
    content = head + tail + bytes([len(topic)]) + topic + struct.pack(">h", 0)
    return struct.pack(">i", len(content) + 4) + content


def offset_answer(offset):
    return {"ext_fields": {"offset": str(offset)}}


def found(*messages):
    return {"body": b"".join(messages), "ext_fields": {"nextBeginOffset": "99", "minOffset": "0", "maxOffset": "99"}}


def ask(answers, use):
    """What `use(admins)` gives, and the (code, fields) that were asked. `answers`: keyword arguments of a reply by
    request code, or a function from the request to them; `code` in them is the reply's."""
    asked = []

    def answer(request):
        asked.append((request.code, dict(request.ext_fields)))
        fields = answers[request.code]
        fields = dict(fields(request) if callable(fields) else fields)
        return reply(request, fields.pop("code", 0), **fields)

    async def main():
        async with served(answering(answer)) as address, ConnectionPool() as pool:
            return await use({"broker-a": BrokerAdmin(pool, address)})

    return asyncio.run(main()), asked
