"""Redis, a general worker and a web server of a bench, and what it takes to ask them."""

import contextlib
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from dashboard.demo.children import free_ports
from dashboard.launch.launcher import HOST, answers, redis_program
from dashboard.launch.supervisor import Program, Supervised, Supervisor

SECONDS = 120.0
PART = re.compile(r'hx-get="([^"]+/dlq/broker-a/[^"]+)"')
AWAITED = 'hx-trigger="load'


@dataclass(frozen=True)
class Site:
    address: str
    token: str
    session: str
    worker: int
    web: int

    def export(self, group: str, letters: int) -> tuple[float, float, float]:
        """Seconds; and the most MiB that the worker and the web server held meanwhile."""
        for pid in (self.worker, self.web):
            # The most that it holds is counted anew (proc(5), clear_refs).
            Path(f"/proc/{pid}/clear_refs").write_text("5")
        began, lines = time.perf_counter(), 0
        path = f"/api/v1/groups/bench/{group}/dlq/export/?format=jsonl&bodies=1"
        with self._open(path, {"Authorization": f"Token {self.token}"}) as answer:
            last = b""
            while piece := answer.read(1 << 16):
                lines += piece.count(b"\n")
                last = piece
        seconds = time.perf_counter() - began
        if lines != letters or b'"error"' in last.splitlines()[-1]:
            raise SystemExit(f"The export holds {lines:,} of {letters:,} letters: its time says nothing.")
        return seconds, _most_mib(self.worker), _most_mib(self.web)

    def page(self, path: str, times: int) -> float:
        """Seconds of a page, in the middle of so many; the first is left out."""
        return median([self._timed(path)[0] for _ in range(times + 1)][1:])

    def answered_page(self, group: str, times: int) -> float:
        """Seconds of the part that shows a letter, once the worker's answer is there."""
        taken = []
        for offset in range(times + 1):
            text = self._timed(f"/groups/bench/{group}/dlq/broker-a/0/{offset}/")[1]
            (part,) = PART.findall(text)
            while AWAITED in text:
                time.sleep(0.05)
                seconds, text = self._timed(part)
            if "Body of the message" not in text:
                raise SystemExit(f"The letter at {offset} is not shown: the times say nothing.")
            taken.append(seconds)
        return median(taken[1:])

    def _timed(self, path: str) -> tuple[float, str]:
        began = time.perf_counter()
        with self._open(path, {"Cookie": f"sessionid={self.session}"}) as answer:
            text = answer.read().decode()
        return time.perf_counter() - began, text

    def _open(self, path: str, headers: Mapping[str, str]) -> "urllib.request._UrlopenRet":
        try:
            request = urllib.request.Request(self.address + path, headers=dict(headers))
            return urllib.request.urlopen(request, timeout=SECONDS)
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{path}: {error.code} {error.read()[:500].decode()}") from None


@contextlib.contextmanager
def running_site(home: Path, environ: Mapping[str, str], token: str, session: str) -> Iterator[Site]:
    port, both = free_ports(0), {**os.environ, **environ}
    supervisor = Supervisor(home / "logs", print)
    try:
        supervisor.start(redis_program(home / "redis.sock", both))
        supervisor.wait_until(lambda: answers(environ["REDIS_URL"]), seconds=20, otherwise="Redis did not start")
        worker = supervisor.start(_program("general", "celery", "-A", "dashboard", "worker", "-Q", "general", "-P",
                                           "threads", "-c", "2", "--loglevel", "INFO", environ=both))  # fmt: skip
        web = supervisor.start(_program("web", "gunicorn", "dashboard.wsgi", "--bind", f"{HOST}:{port}", "--workers",
                                        "1", "--threads", "4", "--no-control-socket", environ=both))  # fmt: skip
        address = f"http://{HOST}:{port}"
        supervisor.wait_until(lambda: _serves(address), seconds=60, otherwise="The web server did not start")
        supervisor.wait_until(lambda: " ready." in worker.log.read_text(), seconds=60, otherwise="No worker started")
        yield Site(address, token, session, _pid(worker), _child(_pid(web)))
    finally:
        supervisor.stop()


def _program(name: str, *words: str, environ: Mapping[str, str]) -> Program:
    return Program(name, (sys.executable, "-m", *words), environ)


def _serves(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _pid(program: Supervised) -> int:
    assert program.child is not None, f"{program.program.name} has ended"
    return program.child.pid


def _child(pid: int) -> int:
    """Of gunicorn, the process that serves."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _most_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
