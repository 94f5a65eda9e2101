"""The same calls on bare sockets: frames that are ready made, answers that nobody looks into but for their length."""

import asyncio
import struct
import time
from collections.abc import Sequence
from itertools import islice

from consumers.rocketmq.wire.frames import Command, encode

Call = tuple[int, dict[str, str]]  # code, fields


async def bare_seconds(addresses: Sequence[str], calls: Sequence[Sequence[Call]], at_once: int) -> float:
    """To each address its calls, so many under way at a time."""
    frames = [
        [encode(Command(code, opaque, ext_fields=fields)) for opaque, (code, fields) in enumerate(asked)]
        for asked in calls
    ]
    began = time.perf_counter()
    await asyncio.gather(*(_ask(address, asked, at_once) for address, asked in zip(addresses, frames, strict=True)))
    return time.perf_counter() - began


async def _ask(address: str, frames: list[bytes], at_once: int) -> None:
    host, port = address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
    left = iter(frames)
    writer.writelines(islice(left, at_once))
    received = b""
    answers = 0
    while answers < len(frames):
        received += await reader.read(1 << 20)
        whole, received = _whole(received)
        answers += whole
        writer.writelines(islice(left, whole))
    writer.close()
    await writer.wait_closed()


def _whole(received: bytes) -> tuple[int, bytes]:
    """How many answers are whole, and what is left behind them."""
    count = start = 0
    while len(received) >= start + 4:
        end = start + 4 + struct.unpack_from(">I", received, start)[0]
        if len(received) < end:
            break
        count, start = count + 1, end
    return count, received[start:]
