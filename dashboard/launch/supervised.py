"""One program that is kept running. Time is an argument: the supervisor owns the clock."""

import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.demo.children import start_child

from .logs import last_lines, rotate

# One running program and all that it started.


class Child:
    """A program in a process group of its own, which dies with this process, even when that is killed."""

    def __init__(self, command: Sequence[str], log: Path, environ: Mapping[str, str]) -> None:
        self._process = start_child(command, log=log, environ=environ)

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs. When it has ended, what it left behind in its group is killed first."""
        if self._process.returncode is None:
            # Looked at without being taken away: until then nothing else can get its number, nor its group's.
            if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                return None
            self.kill()
            self._process.wait()
        return self._process.returncode

    def ask_to_end(self) -> None:
        if self.exit_code() is None:
            os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


# A program that ran so long had started well: its next failure counts as the first.
STEADY_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 60.0
FAILURES_UNTIL_LOG_IS_SHOWN = 3
SHOWN_LINES = 15

Say = Callable[[str], None]


@dataclass(frozen=True)
class Program:
    """`name` is also its log's; `environ` is its whole environment."""

    name: str
    command: tuple[str, ...]
    environ: Mapping[str, str] = field(repr=False)


class Supervised:
    def __init__(self, program: Program, logs: Path, say: Say) -> None:
        self.program = program
        self.log = logs / f"{program.name}.log"
        self.failures = 0
        self.child: Child | None = None
        self._say = say
        self._started_at = 0.0
        self._start_at = 0.0
        rotate(self.log)

    def tick(self, now: float) -> None:
        """Starts it when its time has come; notices when it has died. `now` is monotonic seconds."""
        if self.child is None:
            if now >= self._start_at:
                self.child = Child(self.program.command, self.log, self.program.environ)
                self._started_at = now
            return
        exit_code = self.child.exit_code()
        if exit_code is not None:
            self.child = None
            self._died(exit_code, now)

    def _died(self, exit_code: int, now: float) -> None:
        self.failures = 1 if now - self._started_at >= STEADY_SECONDS else self.failures + 1
        pause = min(2.0 ** (self.failures - 1), LONGEST_PAUSE_SECONDS)
        self._start_at = now + pause
        how = f"was killed by signal {-exit_code}" if exit_code < 0 else f"ended with {exit_code}"
        self._say(f"{self.program.name} {how}: starting it again in {pause:g} s (its log: {self.log})")
        if self.failures == FAILURES_UNTIL_LOG_IS_SHOWN:
            for line in last_lines(self.log, SHOWN_LINES):
                self._say(f"  {self.program.name} | {line}")
