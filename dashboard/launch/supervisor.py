"""Keeps programs running until it is asked to stop, then ends them all."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from .supervised import Program, Supervised
from .trouble import LaunchFailed, StopAsked

LOOK_SECONDS = 0.1
GRACE_SECONDS = 15.0
# Ctrl-C, `kill`, a terminal that is closed.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Say = Callable[[str], None]


class Supervisor:
    def __init__(self, logs: Path, say: Say) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        self._logs = logs
        self._say = say
        self._programs: list[Supervised] = []
        self._times_asked = 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Signals only leave a note, as a program may be half started when they come."""
        # Set even where the shell told us to ignore Ctrl-C, as it does for what it starts in the background.
        before = {number: signal.signal(number, self._note) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._times_asked += 1

    def start(self, program: Program) -> Supervised:
        supervised = Supervised(program, self._logs, self._say)
        self._programs.append(supervised)
        supervised.tick(time.monotonic())
        return supervised

    def watch(self) -> None:
        """One look at every program. Raises StopAsked."""
        if self._times_asked:
            raise StopAsked
        for supervised in self._programs:
            supervised.tick(time.monotonic())
        time.sleep(LOOK_SECONDS)

    def wait_until(self, condition: Callable[[], bool], *, seconds: float, otherwise: str) -> None:
        """Watches until the condition holds. Raises LaunchFailed with `otherwise` when it does not in time."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise LaunchFailed(otherwise)
            self.watch()

    def stop(self, last: str = "redis") -> None:
        """Ends everything; the program named `last`, which the others use until their end, after them."""
        self._end([supervised for supervised in self._programs if supervised.program.name != last])
        self._end([supervised for supervised in self._programs if supervised.program.name == last])

    def _end(self, programs: list[Supervised]) -> None:
        children = [supervised.child for supervised in programs if supervised.child]
        for child in children:
            child.ask_to_end()
        asked_before = self._times_asked
        deadline = time.monotonic() + GRACE_SECONDS
        while any(child.exit_code() is None for child in children):
            # Who presses Ctrl-C again does not want to wait.
            if time.monotonic() > deadline or self._times_asked > asked_before:
                break
            time.sleep(LOOK_SECONDS)
        for child in children:
            child.kill()
        while any(child.exit_code() is None for child in children):
            time.sleep(LOOK_SECONDS)
