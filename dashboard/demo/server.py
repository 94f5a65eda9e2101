"""One of RocketMQ's servers as a child process: started until it says that it serves, stopped, killed."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from .children import kill_child, start_child, stop_child
from .failures import DemoFailed

START_SECONDS = 90.0
STOP_SECONDS = 60.0
LOOK_SECONDS = 0.05


class ServerNotStarted(DemoFailed):
    """A server ended, or stayed silent, before it served; the text names its log."""


class Server:
    """A program that prints `announcement` once it serves."""

    def __init__(self, title: str, command: Callable[[], list[str | Path]], announcement: str, console: Path) -> None:
        self.title = title
        self.console = console
        self._command = command
        self._announcement = announcement.encode()
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    def launch(self) -> None:
        """Begins to start. Does nothing when it runs."""
        if self.pid is not None:
            return
        self.console.parent.mkdir(parents=True, exist_ok=True)
        self.console.write_bytes(b"")
        self._child = start_child(self._command(), log=self.console)

    def wait_until_it_serves(self) -> None:
        if self._child is None:
            raise ServerNotStarted(f"{self.title} was never launched.")
        deadline = time.monotonic() + START_SECONDS
        while self._announcement not in self.console.read_bytes():
            if self._child.poll() is not None:
                ended = f"{self.title} ended with {self._child.returncode} at its start"
                raise ServerNotStarted(f"{ended}: see {self.console}.")
            if time.monotonic() > deadline:
                raise ServerNotStarted(f"{self.title} did not serve within {START_SECONDS:g} s: see {self.console}.")
            time.sleep(LOOK_SECONDS)

    def stop(self) -> None:
        """A goodbye and a flush to disk, which take a broker some seconds."""
        if self._child is not None:
            stop_child(self._child, grace_seconds=STOP_SECONDS)

    def kill(self) -> None:
        """SIGKILL: nothing is flushed, no goodbye is said."""
        if self._child is not None:
            kill_child(self._child)
