"""A local S3 server for the lake: one of a run of tests, and a place of its own in it for each test."""

import json
import os
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.demo.children import free_ports, kill_child, start_child

CHILD = Path(__file__).with_name("s3_child.py")
WAIT_SECONDS = 240.0
BUCKET = "history"
# The server takes whatever keys are signed with; without any the client would look for those of a machine at Amazon.
KEYS = {
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class S3Server:
    """`environ`: what a process needs to reach it."""

    def __init__(self, folder: Path) -> None:
        self._port = free_ports(0)
        self.endpoint = f"http://127.0.0.1:{self._port}"
        self.child = start_child([sys.executable, CHILD, str(self._port)], log=folder / "s3.log")
        self.environ = KEYS

    def wait(self) -> None:
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                break
            except OSError:
                assert self.child.poll() is None, "the S3 server did not start: see its log"
                assert time.monotonic() < until
                time.sleep(0.01)
        self._ask("PUT", f"/{BUCKET}")

    def location(self, folder: str, **options: object) -> str:
        """The URL of a lake. A test that means no harm to the server waits for it; one that does says for how long."""
        named = {"region": "us-east-1", "endpoint_override": self.endpoint, "request_timeout": 30, **options}
        query = "&".join(f"{name}={value}" for name, value in named.items())
        # Spark's tasks have the environment that its JVM was started with.
        return f"s3://nobody:nothing@{BUCKET}/{folder}?{query}"

    def requests(self) -> dict[str, int]:
        """By kind, since this was asked last."""
        return dict(json.loads(self._ask("GET", "/-/requests")))

    def fail(self, *, puts: int = 0, times: float = float("inf")) -> None:
        """It takes `puts` more objects, and answers nobody from then on, or so many `times` not."""
        self._ask("POST", f"/-/fail?puts={puts}&times={times}")

    def serve(self) -> None:
        self._ask("POST", "/-/serve")

    def delay(self, seconds: float) -> None:
        self._ask("POST", f"/-/delay?seconds={seconds}")

    def uploads(self) -> str:
        """Uploads that were begun and not finished, as the store lists them."""
        return self._ask("GET", f"/{BUCKET}?uploads")

    def _ask(self, method: str, path: str) -> str:
        request = urllib.request.Request(f"{self.endpoint}{path}", method=method)
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
            return str(answer.read().decode())


@pytest.fixture(scope="session")
def _s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    server = S3Server(tmp_path_factory.mktemp("s3"))
    try:
        server.wait()
        yield server
    finally:
        kill_child(server.child)


@pytest.fixture
def s3(_s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    yield _s3_server
    _s3_server.serve()
    _s3_server.delay(0)


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a lake lies: in a folder, and again in S3."""
    if request.param == "folder":
        return str(tmp_path)
    server: S3Server = request.getfixturevalue("s3")
    return server.location(tmp_path.name)
