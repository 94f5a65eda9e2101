"""A child with a JVM that a test calls: a line of JSON there, a line of JSON back. Its side is `answering.py`."""

import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dashboard.demo.children import kill_child, start_child

PROJECT = Path(__file__).resolve().parents[2]
ANSWER_SECONDS = 120.0


class JavaCallFailed(Exception):
    """RocketMQ's own class refused, or the child died."""


class CalledChild:
    """Starts the script of this folder, and does not wait for it before the first call or `wait_ready`."""

    def __init__(self, script: str, arguments: Sequence[str | Path], folder: Path) -> None:
        self._console = folder / "console.log"
        program = [sys.executable, Path(__file__).with_name(script), *arguments]
        environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
        self._child = start_child(program, log=self._console, environ=environ, piped=True)
        self._is_ready = False

    @property
    def is_running(self) -> bool:
        return self._child.poll() is None

    def kill(self) -> None:
        """SIGKILL: what it holds neither commits nor says goodbye."""
        kill_child(self._child)

    def wait_ready(self) -> None:
        if not self._is_ready:
            self._answer()
            self._is_ready = True

    def call(self, call: str, **arguments: Any) -> Any:
        self.wait_ready()
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps({"call": call, "arguments": arguments}).encode() + b"\n")
        self._child.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._child.stdout is not None
        # A Java call that never returns must fail one test, not hang the run.
        watch = threading.Timer(ANSWER_SECONDS, self._child.kill)
        watch.start()
        line = self._child.stdout.readline()
        watch.cancel()
        if not line:
            raise JavaCallFailed(f"The Java child died or was silent: see {self._console}.")
        answer = json.loads(line)
        if "error" in answer:
            raise JavaCallFailed(answer["error"])
        return answer["result"]
