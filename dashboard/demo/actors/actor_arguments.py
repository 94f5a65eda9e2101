"""What the supervisor tells each actor on its command line, and how an actor begins with it."""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from dashboard.demo.java import find_java
from dashboard.demo.jvm import start_jvm

from .reserved_stdout import reserve_stdout


@dataclass(frozen=True)
class ActorArguments:
    """`brokers`: name → address. `folder` is the actor's own, for its log; `offsets` is where broadcasting members

    keep their offset files.
    """

    namesrv: str
    brokers: dict[str, str]
    jars: str
    folder: str
    offsets: str

    def as_json(self) -> str:
        return json.dumps(asdict(self))


def begin_actor() -> tuple[ActorArguments, TextIO]:
    """Starts the JVM. Returns the arguments and the stream on which the supervisor waits for answers."""
    answers = reserve_stdout()
    arguments = ActorArguments(**json.loads(sys.argv[1]))
    properties = {"rocketmq.client.localOffsetStoreDir": arguments.offsets}
    start_jvm(find_java(), Path(arguments.jars), Path(arguments.folder), properties=properties)
    return arguments, answers
