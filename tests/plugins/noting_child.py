"""Run as a script: push consumers of RocketMQ's own client that note every delivery when it begins, until killed.

A delivery is noted as `member group unique_key reconsume_times`, before the handler does anything else. The client's
log is `rocketmq_client.log` in the folder that is named.
"""

import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from dashboard.demo.actors.actor import reserve_stdout, start_jvm
from dashboard.demo.actors.consuming import Consumer
from dashboard.demo.java import find_java
from dashboard.demo.shop import Handler, Membership, Message
from tests.plugins.answering import serve
from tests.plugins.shipped_logging import shipped_logging

HELD_SECONDS = 600
ALWAYS = 1_000_000


class OutOfStock(Exception):
    pass


def _number(message: Message) -> int:
    """Keys are `key-N`: the same in each copy, as an offset is not."""
    return int(message.keys.rpartition("-")[2])


def noting(notes: int, member: str, group: str, seconds: list[float], behaviour: dict[str, int]) -> Handler:
    """`behaviour`: of a queue each n-th message fails at its first delivery (`fails_every`), throws then
    (`throws_every`), or fails always (`dies_every`); `fails_at` an offset always; `holds_at` one for `holds_seconds`
    (600), at its first delivery."""
    draw = random.Random(7)
    fails, throws, dies = (behaviour.get(name) for name in ("fails_every", "throws_every", "dies_every"))
    holds = behaviour.get("holds_seconds", HELD_SECONDS)

    def is_failing(message: Message, every: int | None, attempts: int = 1) -> bool:
        return every is not None and _number(message) % every == 0 and message.reconsume_times < attempts

    def consume(message: Message) -> bool:
        # One write of few bytes to a file in append mode: whole, whatever kills this process.
        os.write(notes, f"{member} {group} {message.unique_key} {message.reconsume_times}\n".encode())
        if message.queue_offset == behaviour.get("holds_at") and message.reconsume_times == 0:
            time.sleep(holds)
        time.sleep(draw.uniform(*seconds))
        if message.queue_offset == behaviour.get("fails_at"):
            return False
        if is_failing(message, throws):
            raise OutOfStock(message.keys)
        return not (is_failing(message, fails) or is_failing(message, dies, ALWAYS))

    return consume


class Calls:
    """One method for each call that a test may make."""

    def __init__(self, namesrv: str, process: str, notes: Path) -> None:
        self._namesrv, self._process = namesrv, process
        self._notes = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._consumers: dict[str, Consumer] = {}

    def start(self, membership: dict[str, Any], seconds: list[float], behaviour: dict[str, int]) -> None:
        wanted = Membership(**membership)
        # Two processes may have members with one instance name.
        member = f"{self._process}/{wanted.instance}"
        handler = noting(self._notes, member, wanted.group, seconds, behaviour)
        self._consumers[wanted.instance] = Consumer(self._namesrv, wanted, handler)

    def stop(self, instance: str) -> None:
        self._consumers.pop(instance).shutdown()


if __name__ == "__main__":
    answers = reserve_stdout()
    jars, folder = Path(sys.argv[2]), Path(sys.argv[3])
    start_jvm(find_java(), jars, folder, heap_megabytes=192, properties=shipped_logging(jars, folder))
    serve(Calls(sys.argv[1], sys.argv[4], Path(sys.argv[5])), answers)
