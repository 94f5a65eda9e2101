"""`manage.py up` as a person runs it, with a home and a port of its own."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dashboard.demo.children import free_ports
from tests.dashboard.launch.test_child import ROOT, wait_for

pytestmark = pytest.mark.live

START_SECONDS = 900.0
END_SECONDS = 360.0
USER_SETTINGS = ("DATABASE_URL", "REDIS_URL", "SPARK_MASTER")
# Nobody listens there: this cluster is watched, and silent.
NOBODY = "127.0.0.1:1"


class Up:
    """A launch; what it prints is in `log`."""

    def __init__(self, home: Path, *arguments: str, port: int | None = None) -> None:
        self.home, self.port = home, port or free_ports(0)
        self.log = home.with_name(f"{home.name}-{self.port}.log")
        environ = {name: value for name, value in os.environ.items() if name not in USER_SETTINGS}
        environ["CONSUMERSCOPE_HOME"] = str(home)
        environ.setdefault("CONSUMERSCOPE_JARS", str(ROOT / "var" / "jars"))
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(self.port), *arguments],
                cwd=ROOT,
                env=environ,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def said(self) -> str:
        return self.log.read_text()

    def wait_until_it_says(self, text: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while text not in self.said():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.1)

    def left(self) -> list[str]:
        """Every process that was given this home."""
        mark = f"CONSUMERSCOPE_HOME={self.home}".encode()
        return [
            (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            for folder in Path("/proc").glob("[0-9]*")
            if mark in _read(folder / "environ").split(b"\0")
        ]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ProcessLookupError):
        # It has ended meanwhile, or belongs to somebody else.
        return b""


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    begun: list[Up] = []

    def begin(*arguments: str, home: Path | None = None, port: int | None = None) -> Up:
        folder = home or tmp_path / "home"
        folder.mkdir(exist_ok=True)
        begun.append(Up(folder, *arguments, port=port))
        return begun[-1]

    yield begin
    for launch in begun:
        if launch.process.poll() is None:
            launch.process.kill()
        launch.process.wait()


def status_of(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=240) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def ask_to_end(launch: Up, number: signal.Signals) -> None:
    launch.process.send_signal(number)
    assert launch.process.wait(END_SECONDS) == 0
    assert launch.said().endswith("Everything has ended.\n")
    assert launch.left() == []


def refused(launch: Up) -> str:
    """The sentence that it ended with."""
    assert launch.process.wait(END_SECONDS) == 1
    assert launch.said().count("\n") == 1
    return launch.said()


def test_it_serves_pages_and_says_to_another_why_it_cannot_start_beside_it(
    up: Callable[..., Up], tmp_path: Path
) -> None:
    first = up("--namesrv", NOBODY)
    first.wait_until_it_says("Everything runs")
    assert status_of(first.port, "/healthz") == 200
    assert "demo" not in first.said()
    same_home, same_port = up(), up(home=tmp_path / "other", port=first.port)
    assert refused(same_home).startswith(f"CommandError: Consumerscope already runs in {first.home} (process ")
    assert refused(same_port).startswith(f"CommandError: Port {first.port} cannot be had")
    ask_to_end(first, signal.SIGTERM)


def test_it_starts_the_demo_where_no_cluster_is_named(up: Callable[..., Up], rocketmq_jars: Path) -> None:
    launch = up()
    launch.wait_until_it_says("The demo cluster serves")
    launch.wait_until_it_says("Everything runs")
    ask_to_end(launch, signal.SIGINT)


def test_killed_it_leaves_no_process_and_starts_again(up: Callable[..., Up]) -> None:
    """A socket, a lock file and a log of the last start are in its way."""
    first = up("--namesrv", NOBODY)
    first.wait_until_it_says("Everything runs")
    first.process.kill()
    wait_for(lambda: first.left() == [])
    second = up()
    second.wait_until_it_says("Everything runs")
    ask_to_end(second, signal.SIGINT)
    assert "The demo" not in second.said(), "a cluster was registered by the first start"
