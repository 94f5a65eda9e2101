"""Run as a script: push consumers of RocketMQ's own client that note every delivery when it begins, until killed.

A delivery is noted as `member group unique_key`, before the handler does anything else.
"""

import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from dashboard.demo.actors.actor_arguments import reserve_stdout, start_jvm
from dashboard.demo.actors.consuming import Consumer
from dashboard.demo.actors.membership import Handler, Membership, Message
from dashboard.demo.java import find_java
from tests.plugins.answering import serve

HELD_SECONDS = 600


def noting(notes: int, member: str, group: str, seconds: list[float], behaviour: dict[str, int]) -> Handler:
    """`behaviour`: `fails_every` n-th offset at its first delivery; `fails_at` and `holds_at` an offset, always."""
    draw = random.Random(7)
    every = behaviour.get("fails_every")

    def consume(message: Message) -> bool:
        # One write of few bytes to a file in append mode: whole, whatever kills this process.
        os.write(notes, f"{member} {group} {message.unique_key}\n".encode())
        if message.queue_offset == behaviour.get("holds_at"):
            time.sleep(HELD_SECONDS)
        time.sleep(draw.uniform(*seconds))
        if message.queue_offset == behaviour.get("fails_at"):
            return False
        return every is None or message.reconsume_times > 0 or message.queue_offset % every > 0

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
    start_jvm(find_java(), Path(sys.argv[2]), Path(sys.argv[3]), heap_megabytes=192)
    serve(Calls(sys.argv[1], sys.argv[4], Path(sys.argv[5])), answers)
