"""Run as a script: RocketMQ's own consumers with the logging that their jar ships, told what to do line by line.

`first` and `second` begin a member of the group, `leave` ends the second. The listener throws at the first delivery of
each message with the key `key-0`.
"""

import os
import sys
from pathlib import Path

from dashboard.demo.actors.actor import reserve_stdout, start_jvm
from dashboard.demo.actors.consuming import Consumer
from dashboard.demo.java import find_java
from dashboard.demo.shop import Membership, Message
from tests.plugins.shipped_logging import shipped_logging

POISON = "key-0"


class OutOfStock(Exception):
    pass


def take(message: Message) -> bool:
    if message.keys == POISON and message.reconsume_times == 0:
        raise OutOfStock(message.keys)
    return True


def main(namesrv: str, topic: str, group: str, jars: Path, folder: Path) -> None:
    answers = reserve_stdout()
    start_jvm(find_java(), jars, folder, properties=shipped_logging(jars, folder))
    members: dict[str, Consumer] = {}
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        match line.strip():
            case "leave":
                members.pop("second").shutdown()
            case name:
                members[name] = Consumer(namesrv, Membership(group, topic, name), take)
        print("done", file=answers, flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5]))
