"""`manage.py up` with all that it starts, for faults to be made in: what `make run` is, at a quicker pace."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dashboard.demo.children import free_ports, start_child, stop_child
from tests.plugins.calling import PROJECT

# Judged within seconds, so that a state that is not true for half a minute is seen.
POLL_SECONDS = 3.0
PACE = {
    "CONSUMERSCOPE_POLL_SECONDS": f"{POLL_SECONDS:g}",
    "CONSUMERSCOPE_AGGREGATE_SECONDS": "15",
    "CONSUMERSCOPE_WINDOW_SECONDS": "12",
    "CONSUMERSCOPE_WINDOW_READINGS": "4",
    "CONSUMERSCOPE_PROVISIONAL_READINGS": "3",
    "CONSUMERSCOPE_PROVISIONAL_SECONDS": "6",
    "CONSUMERSCOPE_UNKNOWN_AFTER_SECONDS": "12",
    "CONSUMERSCOPE_ALLOWANCE_SECONDS": "20",
    "CONSUMERSCOPE_STOP_WITHOUT_MEMBERS_SECONDS": "8",
    "CONSUMERSCOPE_STALL_SECONDS": "15",
    "CONSUMERSCOPE_ALERT_NETWORKS": "127.0.0.0/8",
    "ALERT_SECONDS": "2",
    "ALERT_DELIVERY_SECONDS": "5",
    "API_RATE": "0",
}
# The limits that follow from it (consumers/queries/limits.py).
LATE_SECONDS = 3 * POLL_SECONDS
START_SECONDS = 600.0
END_SECONDS = 360.0
ANSWER_SECONDS = 10.0
USER_SETTINGS = ("DATABASE_URL", "REDIS_URL", "SPARK_MASTER")

# How the processes of a launch are told apart: words of their command lines.
PROCESSES: dict[str, tuple[str, ...]] = {
    "web": ("gunicorn",),
    "poll": ("celery", "poll@%h"),
    "general": ("celery", "general@%h"),
    "alerts": ("celery", "alerts@%h"),
    "spark": ("celery", "spark@%h"),
    "jvm": ("java", "org.apache.spark.deploy.SparkSubmit"),
    "beat": ("celery", "beat"),
    "redis": ("redis-server",),
}


class NoAnswer(Exception):
    """The web server was asked and gave no answer."""


class Launched:
    """`home` must be short: a Unix socket lies in it."""

    def __init__(self, home: Path, namesrv: str, more: Mapping[str, str]) -> None:
        self.home, self.port = home, free_ports(0)
        self.log = home.with_name(f"{home.name}.log")
        kept = {name: value for name, value in os.environ.items() if name not in USER_SETTINGS}
        self.environ = {**kept, **PACE, "CONSUMERSCOPE_HOME": str(home), **more}
        self._arguments = ["up", "--port", str(self.port), "--namesrv", namesrv]
        self._process: subprocess.Popen[bytes] | None = None
        self._token = ""
        # How far its clock is ahead of ours, and when that changed, by a clock that does not.
        self.ahead = timedelta()
        self.leapt_at = float("-inf")

    def __enter__(self) -> "Launched":
        self.home.mkdir(parents=True, exist_ok=True)
        self._start()
        self._token = self.command("token", "create", "admin").split()[-1]
        return self

    def restart(self) -> None:
        """By a hand, which nothing here should need."""
        self.__exit__()
        self._start()

    def _start(self) -> None:
        printed = len(self.said()) if self.log.exists() else 0
        # In the session of the tests: Linux shares processors out by session, whatever is nice in it.
        command = [sys.executable, PROJECT / "manage.py", *self._arguments]
        self._process = start_child(command, log=self.log, environ=self.environ)
        deadline = time.monotonic() + START_SECONDS
        while "Everything runs" not in self.said()[printed:]:
            assert self.runs(), self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.1)

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            stop_child(self._process, grace_seconds=END_SECONDS)

    def now(self) -> datetime:
        """By its own clock."""
        return datetime.now(UTC) + self.ahead

    def said(self) -> str:
        """What the launch prints to whoever started it."""
        return self.log.read_text(errors="replace")

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def command(self, *arguments: str) -> str:
        """What a command of manage.py prints."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=480,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pids(self, name: str) -> list[int]:
        """Of the processes of that name that were given this home; the oldest first."""
        # Redis writes its title over its environment, and has a path of the home in it.
        marks = (f"CONSUMERSCOPE_HOME={self.home}\0".encode(), f"{self.home}/".encode())
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            command = _read(folder / "cmdline")
            if not all(word.encode() in command for word in PROCESSES[name]):
                continue
            if marks[0] in _read(folder / "environ") or (name == "redis" and marks[1] in command):
                found.append(int(folder.name))
        return sorted(found)

    def signal(self, name: str, number: signal.Signals) -> None:
        """To each process of that name."""
        pids = self.pids(name)
        assert pids, f"No process of {name} runs."
        for pid in pids:
            os.kill(pid, number)

    def ask(self, method: str, path: str, body: Any = None, *, seconds: float = ANSWER_SECONDS) -> tuple[int, Any]:
        """Status and answer of any address of the site. Raises NoAnswer."""
        headers = {"Authorization": f"Token {self._token}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"{method} {path}: {error!r}") from error
        finally:
            connection.close()
        is_json = "json" in (answer.getheader("Content-Type") or "")
        return answer.status, json.loads(text) if is_json and text else text.decode(errors="replace")

    def rest(self, method: str, path: str, body: Any = None, *, seconds: float = ANSWER_SECONDS) -> Any:
        """What REST answers, where it answers well. Raises NoAnswer."""
        status, answer = self.ask(method, f"/api/v1/{path}", body, seconds=seconds)
        if status >= 400:
            raise NoAnswer(f"{method} {path} was answered with {status}: {str(answer)[:300]}")
        return answer


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        # It has ended meanwhile, or belongs to somebody else.
        return b""
