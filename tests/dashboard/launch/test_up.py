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

from dashboard.demo.ports import free_ports
from tests.dashboard.launch.test_child import ROOT, wait_for

pytestmark = pytest.mark.live

START_SECONDS = 180.0
END_SECONDS = 90.0
USER_SETTINGS = ("DATABASE_URL", "REDIS_URL", "SPARK_MASTER")
# Nobody listens there: this cluster is watched, and silent.
NOBODY = "127.0.0.1:1"


class Up:
    """A launch; what it prints is in `log`."""

    def __init__(self, home: Path, *arguments: str, port: int | None = None) -> None:
        self.home, self.port = home, port or free_ports(0)
        self.log = home.with_name(f"{home.name}-{self.port}.log")
        environ = {name: value for name, value in os.environ.items() if name not in USER_SETTINGS}
        environ |= {"CONSUMERSCOPE_HOME": str(home), "CONSUMERSCOPE_JARS": str(ROOT / "var" / "jars")}
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
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_pages_until_it_is_asked_to_end_and_leaves_nothing(
    up: Callable[..., Up], number: signal.Signals
) -> None:
    launch = up("--namesrv", NOBODY)
    launch.wait_until_it_says("Everything runs")
    assert status_of(launch.port, "/healthz") == 200
    assert "demo" not in launch.said()
    launch.process.send_signal(number)
    assert launch.process.wait(END_SECONDS) == 0
    assert launch.said().endswith("Everything has ended.\n")
    assert launch.left() == []


def test_it_leaves_nothing_even_when_it_is_killed(up: Callable[..., Up]) -> None:
    launch = up("--namesrv", NOBODY)
    launch.wait_until_it_says("Everything runs")
    launch.process.kill()
    wait_for(lambda: launch.left() == [])


def test_it_says_in_one_sentence_why_it_cannot_start_beside_another(up: Callable[..., Up], tmp_path: Path) -> None:
    first = up("--namesrv", NOBODY)
    first.wait_until_it_says("Consumerscope answers at")
    same_home, same_port = up(), up(home=tmp_path / "other", port=first.port)
    assert (same_home.process.wait(END_SECONDS), same_port.process.wait(END_SECONDS)) == (1, 1)
    assert same_home.said().startswith(f"CommandError: Consumerscope already runs in {first.home} (process ")
    assert same_port.said().startswith(f"CommandError: Port {first.port} cannot be had")
    assert [launch.said().count("\n") for launch in (same_home, same_port)] == [1, 1]


def test_it_starts_the_demo_where_no_cluster_is_named(up: Callable[..., Up], rocketmq_jars: Path) -> None:
    launch = up()
    launch.wait_until_it_says("The demo cluster serves")
    launch.wait_until_it_says("Everything runs")
    launch.process.send_signal(signal.SIGINT)
    assert launch.process.wait(END_SECONDS) == 0
    assert launch.left() == []


def test_it_starts_again_where_it_was_killed(up: Callable[..., Up]) -> None:
    """A socket, a lock file and a log of the last start are in its way."""
    first = up("--namesrv", NOBODY)
    first.wait_until_it_says("Everything runs")
    first.process.kill()
    wait_for(lambda: first.left() == [])
    second = up()
    second.wait_until_it_says("Everything runs")
    second.process.send_signal(signal.SIGINT)
    assert second.process.wait(END_SECONDS) == 0
    assert "The demo" not in second.said(), "a cluster was registered by the first start"
