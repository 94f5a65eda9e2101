"""Programs that are started, watched, restarted and ended together."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from dashboard.demo.children import start_child


# Why a launch ends: a reason in one sentence, or the user's request.
class LaunchFailed(Exception):
    """It cannot start, or go on; the text says why and what to do."""


class StopAsked(Exception):
    """Ctrl-C, or a request to end, while something was awaited."""


# Log files of programs: one per start, a few old ones kept.
KEPT = 3


def rotate(log: Path) -> None:
    """Makes room for a fresh `log`: the last one becomes `log.1`, that one `log.2`; the oldest goes."""
    names = [log, *(log.with_name(f"{log.name}.{number}") for number in range(1, KEPT + 1))]
    for older, newer in reversed(list(zip(names[1:], names, strict=False))):
        if newer.exists():
            newer.replace(older)


def last_lines(log: Path, count: int) -> list[str]:
    """The last lines that say something; none when there is no log."""
    if not log.exists():
        return []
    lines = [line.rstrip() for line in log.read_text(errors="replace").splitlines()]
    return [line for line in lines if line][-count:]


class Tail:
    """The whole lines that were appended to a log since the last look."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = 0

    def lines(self) -> list[str]:
        if not self._log.exists():
            return []
        with self._log.open("rb") as file:
            file.seek(self._read)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read += len(whole) + len(newline)
        return whole.decode(errors="replace").splitlines()


# One program that is kept running. Time is an argument: the supervisor owns the clock.
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


LOOK_SECONDS = 0.1

GRACE_SECONDS = 15.0

# Ctrl-C, `kill`, a terminal that is closed.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervisor:
    """Keeps programs running until it is asked to stop, then ends them all."""

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
