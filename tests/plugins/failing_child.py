"""Run as a script: members of groups whose handlers fail as told, and count what they did.

{"call": "start", "arguments": {"member": {"group": "a", "topic": "T", "instance": "m1"}, "fails": [[10, 0, 1]]}}
"""

import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dashboard.demo.actors.actor import reserve_stdout, start_jvm
from dashboard.demo.actors.consuming import Consumer
from dashboard.demo.java import find_java
from dashboard.demo.shop import Handler, Membership, Message
from tests.plugins.answering import serve

HEAP_MEGABYTES = 128


class Failing:
    def __init__(self, namesrv: str) -> None:
        self._namesrv = namesrv
        self._members: dict[str, Consumer] = {}
        self._stopped: dict[str, threading.Event] = {}
        self._counted: dict[str, Counter[tuple[int, bool]]] = {}
        self._noted: dict[str, list[tuple[str, int, float]]] = {}
        self._lock = threading.Lock()

    def start(self, member: dict[str, Any], fails: list[list[int]], holds: Sequence[int] = ()) -> None:
        """Of `fails`, [every, remainder, attempts]: messages with such a number in their keys fail so often. Those with
        a number of `holds` are not finished before the member stops."""
        wanted = Membership(**member)
        counted = self._counted.setdefault(wanted.group, Counter())
        stopped = self._stopped.setdefault(wanted.instance, threading.Event())
        noted = self._noted.setdefault(wanted.group, [])
        handler = self._handler(counted, noted, fails, frozenset(holds), stopped)
        self._members[wanted.instance] = Consumer(self._namesrv, wanted, handler)

    def stop(self, instance: str) -> None:
        self._stopped.pop(instance).set()
        self._members.pop(instance).shutdown()

    def counts(self, group: str) -> list[list[int]]:
        """Reconsume times, deliveries and failures, one line for each number of times."""
        with self._lock:
            counted = dict(self._counted.get(group, Counter()))
        return [
            [times, counted.get((times, True), 0) + counted.get((times, False), 0), counted.get((times, False), 0)]
            for times in sorted({times for times, _ in counted})
        ]

    def deliveries(self, group: str) -> list[tuple[str, int, float]]:
        """Keys, reconsume times and Unix time of every delivery, in order."""
        with self._lock:
            return list(self._noted.get(group, []))

    def _handler(
        self,
        counted: Counter[tuple[int, bool]],
        noted: list[tuple[str, int, float]],
        fails: list[list[int]],
        holds: frozenset[int],
        stopped: threading.Event,
    ) -> Handler:
        def consume(message: Message) -> bool:
            with self._lock:
                noted.append((message.keys, message.reconsume_times, time.time()))
            number = int(message.keys.rpartition("-")[2])
            if number in holds:
                stopped.wait()
            consumed = not any(
                number % every == remainder and message.reconsume_times < attempts
                for every, remainder, attempts in fails
            )
            with self._lock:
                counted[message.reconsume_times, consumed] += 1
            return consumed

        return consume


def main(namesrv: str, jars: Path, folder: Path) -> None:
    answers = reserve_stdout()
    start_jvm(find_java(), jars, folder, heap_megabytes=HEAP_MEGABYTES)
    serve(Failing(namesrv), answers)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
