"""Run as a script: members of many groups in one JVM, which start, stop and tell what they hold as lines of JSON ask.

{"call": "start", "arguments": {"members": [{"group": "a", "topic": "T", "instance": "m1"}]}}  →  {"result": null}
Members with one instance name are one client, with one id, in several groups.
"""

import sys
from pathlib import Path
from typing import Any

from dashboard.demo.actors.actor import reserve_stdout, start_jvm
from dashboard.demo.actors.consuming import Consumer
from dashboard.demo.java import find_java
from dashboard.demo.shop import Membership, Message
from tests.plugins.answering import serve

HEAP_MEGABYTES = 192


def take(_: Message) -> bool:
    return True


class Fleet:
    def __init__(self, namesrv: str) -> None:
        self._namesrv = namesrv
        self._members: dict[tuple[str, str], Consumer] = {}

    def start(self, members: list[dict[str, Any]]) -> None:
        for fields in members:
            wanted = Membership(**fields)
            self._members[wanted.group, wanted.instance] = Consumer(self._namesrv, wanted, take)

    def stop(self, members: list[list[str]]) -> None:
        for group, instance in members:
            self._members.pop((group, instance)).shutdown()

    def restart(self, member: dict[str, Any]) -> None:
        self.stop([[member["group"], member["instance"]]])
        self.start([member])

    def held(self) -> list[list[Any]]:
        """Group, instance, and the queues that the member holds: [[topic, broker, queue id]]."""
        return [[group, instance, member.held()] for (group, instance), member in self._members.items()]


def main(namesrv: str, jars: Path, folder: Path) -> None:
    answers = reserve_stdout()
    start_jvm(find_java(), jars, folder, heap_megabytes=HEAP_MEGABYTES)
    serve(Fleet(namesrv), answers)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
