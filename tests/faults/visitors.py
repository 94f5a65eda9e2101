"""Whoever comes over HTTP and means no good, or has a slow line."""

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.fault import Fault
from tests.faults.stage import Stage

# Many times the threads of the web server, which answers everybody else meanwhile.
HALF_SENT = 64
ANSWER_SECONDS = 5.0
UPLOAD_BYTES = 5 * 1024**3
# What a process of the web server may grow to.
WEB_MEGABYTES = 700


@contextmanager
def _half_sent(stage: Stage) -> Iterator[None]:
    with contextlib.ExitStack() as kept:
        for _ in range(HALF_SENT):
            visitor = kept.enter_context(socket.create_connection(("127.0.0.1", stage.site.port), timeout=10))
            visitor.sendall(b"GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow:")
        began = time.monotonic()
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", stage.site.port, timeout=120)) as line:
            line.request("GET", "/login/")
            line.getresponse().read()
        stage.marks["answer seconds"] = time.monotonic() - began
        yield


def others_waited(stage: Stage) -> list[str]:
    waited = stage.marks["answer seconds"]
    return [f"somebody else was answered after {waited:.1f} s"] if waited > ANSWER_SECONDS else []


@contextmanager
def _upload(stage: Stage) -> Iterator[None]:
    """Until it is refused, or the block ends."""
    over = threading.Event()
    largest: list[float] = [0.0]

    def send() -> None:
        head = "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        head += f"Content-Length: {UPLOAD_BYTES}\r\n\r\n"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", stage.site.port), timeout=10) as line:
            line.sendall(head.encode())
            sent = 0
            while sent < UPLOAD_BYTES and not over.is_set():
                line.sendall(b"a" * 1_048_576)
                sent += 1_048_576
                largest[0] = max(largest[0], *(_megabytes(pid) for pid in stage.site.pids("web")))

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(120)
        stage.marks["web megabytes"] = largest[0]


def _megabytes(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0.0


def web_has_grown(stage: Stage) -> list[str]:
    grown = stage.marks["web megabytes"]
    return [f"a process of the web server had {grown:.0f} MB"] if grown > WEB_MEGABYTES else []


VISITOR_FAULTS = (
    Fault("requests that are half sent", _half_sent, (), seconds=30.0, wrong=others_waited),
    Fault("an upload of 5 GB", _upload, (), seconds=30.0, wrong=web_has_grown),
)
