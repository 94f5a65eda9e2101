"""What the supervisor tells each actor on its command line, and how an actor begins with it."""

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

import jpype

from dashboard.demo.java import Java, JavaNotFound, find_java, log_flags
from dashboard.demo.server import SMALL_JVM


def reserve_stdout() -> TextIO:
    """A stream to where standard output led. Call it before the JVM starts."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def start_jvm(
    java: Java, jars: Path, folder: Path, *, heap_megabytes: int = 96, properties: dict[str, str] | None = None
) -> None:
    """Starts it; logs go below `folder`, broadcasting members keep their offsets in `folder/rocketmq_offsets`.

    `properties` are Java's system properties and win over the ones set here.
    """
    settings = {
        "rocketmq.client.localOffsetStoreDir": str(folder / "rocketmq_offsets"),
        # A member that found its broker busy when another came asks again after this; 20 s is long in a demo.
        "rocketmq.client.rebalance.waitInterval": "5000",
        **(properties or {}),
    }
    flags = [f"-Xmx{heap_megabytes}m", "-Xms16m", "-XX:MaxDirectMemorySize=64m", *SMALL_JVM]
    # -Xrs: signals belong to Python, which ends the consumers in order.
    flags += ["-Xrs", *log_flags(folder, "client")]
    flags += [f"-D{name}={value}" for name, value in settings.items()]
    jpype.startJVM(str(_libjvm(java)), *flags, classpath=[f"{jars}/*"], convertStrings=True)


def _libjvm(java: Java) -> Path:
    home = java.path.resolve().parent.parent
    for place in ("lib/server/libjvm.so", "lib/server/libjvm.dylib"):
        if (home / place).is_file():
            return home / place
    raise JavaNotFound(f"{java.path} belongs to no whole Java: set JAVA_HOME to one that has lib/server/libjvm.")


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
