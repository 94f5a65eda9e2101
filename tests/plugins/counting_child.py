"""Run as a script: push consumers of RocketMQ's own client that note every message they have consumed, until killed.

Each is `{"membership": {…}, "seconds": [least, most]}`: how long a message takes, at random. A message is noted as
`topic queue_id queue_offset` when its handling is over, before the client hears of it. A line on standard input lets
them pull no more.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from dashboard.demo.actors.actor import reserve_stdout, start_jvm
from dashboard.demo.actors.consuming import Consumer
from dashboard.demo.java import find_java
from dashboard.demo.shop import Handler, Membership, Message


def counting(notes: int, seconds: tuple[float, float]) -> Handler:
    draw = random.Random(7)

    def consume(message: Message) -> bool:
        time.sleep(draw.uniform(*seconds))
        # One write of few bytes to a file in append mode: whole, whatever kills this process.
        os.write(notes, f"{message.topic} {message.queue_id} {message.queue_offset}\n".encode())
        return True

    return consume


def main(namesrv: str, consumers: list[dict[str, Any]], jars: Path, folder: Path, notes: Path) -> None:
    answers = reserve_stdout()
    start_jvm(find_java(), jars, folder)
    paper = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    kept = [
        Consumer(namesrv, Membership(**one["membership"]), counting(paper, tuple(one["seconds"]))) for one in consumers
    ]
    print("ready", file=answers, flush=True)
    sys.stdin.readline()
    for consumer in kept:
        consumer.pull_no_more()
    print("holding", file=answers, flush=True)
    while kept:
        signal.pause()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5]))
