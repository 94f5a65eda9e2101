"""One running program and all that it started."""

import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from dashboard.demo.children import start_child


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
