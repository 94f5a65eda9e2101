"""Push consumers in a process of their own that a test may kill, and what they have consumed by then."""

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from dashboard.demo.children import kill_child, start_child
from tests.plugins.calling import PROJECT

Place = tuple[str, int, int]  # topic, queue id, queue offset


class CountingConsumers:
    """Started when the constructor returns; `with` kills what is left of them."""

    def __init__(self, namesrv: str, jars: Path, folder: Path, consumers: list[dict[str, Any]]) -> None:
        """`consumers`: fields of Membership, and under `seconds` how long a message takes, least and most."""
        self._notes = folder / "consumed"
        wanted = [{"seconds": one.pop("seconds"), "membership": one} for one in map(dict, consumers)]
        arguments = [namesrv, json.dumps(wanted), jars, folder, self._notes]
        script = Path(__file__).with_name("counting_child.py")
        environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
        log = folder / "console.log"
        self._child = start_child([sys.executable, script, *arguments], log=log, environ=environ, piped=True)
        self._log = log
        self._expect(b"ready\n")

    def __enter__(self) -> "CountingConsumers":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def pull_no_more(self) -> None:
        """They consume what they hold. A pull commits as well, at no time that a test could know."""
        assert self._child.stdin is not None
        self._child.stdin.write(b"\n")
        self._child.stdin.flush()
        self._expect(b"holding\n")

    def freeze(self) -> None:
        """SIGSTOP: it stays connected, and does nothing, until `thaw`."""
        os.killpg(self._child.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.killpg(self._child.pid, signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL: nothing is committed, nobody says goodbye."""
        kill_child(self._child)

    def consumed(self) -> Counter[Place]:
        if not self._notes.exists():
            return Counter()
        lines = self._notes.read_text().splitlines()
        return Counter((topic, int(queue), int(offset)) for topic, queue, offset in map(str.split, lines))

    def _expect(self, line: bytes) -> None:
        assert self._child.stdout is not None
        if self._child.stdout.readline() != line:
            self.kill()
            raise RuntimeError(f"The consumers did not start, or died: see {self._log}.")
