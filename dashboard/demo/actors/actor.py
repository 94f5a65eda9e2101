"""An actor: a process of the demo with its own JVM. The supervisor starts it, tells it on its command line what it
needs, sends it commands and kills it; and how the actor begins.
"""

import json
import os
import select
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TextIO

import jpype

from dashboard.demo.children import kill_child, start_child
from dashboard.demo.java import DemoFailed, Java, JavaNotFound, find_java, log_flags
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


PROJECT = Path(__file__).resolve().parents[3]
READY_SECONDS = 300.0


class ActorFailed(DemoFailed):
    """An actor ended or stayed silent; the text names its log."""


class Actor:
    """Runs the module `dashboard.demo.<name>`. Start it from a thread that lives on."""

    def __init__(self, name: str, arguments: ActorArguments) -> None:
        self.name = name
        self.log = Path(arguments.folder) / "console.log"
        environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
        program = [sys.executable, "-m", f"dashboard.demo.actors.{name}", arguments.as_json()]
        self._child = start_child(program, log=self.log, environ=environ, piped=True)
        self._expect("ready")

    @property
    def pid(self) -> int:
        return self._child.pid

    def tell(self, word: str) -> None:
        """Returns once it is done, which the actor says by repeating the word."""
        assert self._child.stdin is not None
        self._child.stdin.write(f"{word}\n".encode())
        self._child.stdin.flush()
        self._expect(word)

    def check(self) -> None:
        """Raises ActorFailed when it has ended."""
        if self._child.poll() is not None:
            raise ActorFailed(f"The demo's {self.name} actor ended with {self._child.returncode}: see {self.log}.")

    def kill(self) -> None:
        kill_child(self._child)

    def _expect(self, word: str) -> None:
        assert self._child.stdout is not None
        received = b""
        deadline = time.monotonic() + READY_SECONDS
        while not received.endswith(b"\n"):
            readable, _, _ = select.select([self._child.stdout], [], [], max(0.0, deadline - time.monotonic()))
            byte = os.read(self._child.stdout.fileno(), 1) if readable else b""
            if not byte:
                self.kill()
                raise ActorFailed(f"The demo's {self.name} actor died or was silent: see {self.log}.")
            received += byte
        if received.decode().strip() != word:
            self.kill()
            raise ActorFailed(f"The demo's {self.name} actor said {received!r} instead of {word!r}: see {self.log}.")


# The story's side of the member that comes and goes: in turn it joins, leaves, joins and is killed.

STEP_SECONDS = 40.0


class Step(Enum):
    JOIN = "join"
    LEAVE = "leave"
    KILL = "kill"


TURN = (Step.JOIN, Step.LEAVE, Step.JOIN, Step.KILL)


def step_at(number: int) -> Step:
    return TURN[number % len(TURN)]


class Roamer:
    """Takes one step each time; its process is started when it is to join and has none."""

    def __init__(self, start: Callable[[], Actor]) -> None:
        self._start = start
        self._actor: Actor | None = None
        self._taken = 0

    def take_step(self) -> None:
        step = step_at(self._taken)
        self._taken += 1
        if self._actor is None:
            self._actor = self._start()
        if step is Step.KILL:
            self._actor.kill()
            self._actor = None
        else:
            self._actor.tell(step.value)

    def kill(self) -> None:
        if self._actor is not None:
            self._actor.kill()
