"""Requests that come slowly, or never whole, take no thread from the others."""

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from hypothesis import given, strategies as st

from dashboard.demo.children import free_ports
from dashboard.patience import LONGEST_BODY, LONGEST_HEAD, is_whole
from tests.plugins.calling import PROJECT

THREADS = 2
HEAD = b"GET /a HTTP/1.1\r\nHost: here\r\n"
POST = b"POST /b HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\n"


@pytest.mark.parametrize(
    ("begun", "whole"),
    [
        (b"", False),
        (HEAD, False),
        (HEAD + b"\r\n", True),
        (POST, False),
        (POST + b"abc", False),
        (POST + b"abcd", True),
        (HEAD + b"X-Content-Length: 9\r\n\r\n", True),
        (HEAD + b"Content-Length: 4\r\nExpect: 100-continue\r\n\r\n", True),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", True),
        (HEAD + b"Content-Length: %d\r\n\r\n" % (LONGEST_BODY + 1), True),
        (b"a" * LONGEST_HEAD, False),
        (b"a" * (LONGEST_HEAD + 1), True),
    ],
)
def test_a_request_is_whole_with_its_body_or_where_nobody_can_wait_for_it(begun: bytes, whole: bool) -> None:
    assert is_whole(begun) is whole


@given(st.integers(0, len(POST) + 3))
def test_no_part_of_a_request_is_whole(length: int) -> None:
    assert not is_whole((POST + b"abcd")[:length])


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Of a server with two threads that waits for a second."""
    found = free_ports(0)
    command = [sys.executable, "-m", "gunicorn", "tests.dashboard.hasty_site", "--bind", f"127.0.0.1:{found}"]
    command += ["--worker-class", "tests.dashboard.hasty_site.PatientWorker", "--threads", str(THREADS)]
    command += ["--no-control-socket", "--log-level", "warning", "--graceful-timeout", "1"]
    with subprocess.Popen(command, cwd=PROJECT) as server:
        try:
            deadline = time.monotonic() + 120
            while not _listens(found):
                assert server.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield found
        finally:
            server.terminate()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def visitor(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def asked(port: int, path: str) -> bytes:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as line:
        line.request("GET", path)
        return line.getresponse().read()


def test_half_requests_of_many_visitors_keep_nobody_from_an_answer(port: int) -> None:
    with ExitStack() as kept:
        lines = [kept.enter_context(visitor(port)) for _ in range(20 * THREADS)]
        for line in lines:
            line.sendall(HEAD)
        began = time.monotonic()
        assert asked(port, "/c") == b"/c 0"
        assert time.monotonic() - began < 0.9
        # They have had their time: nothing is answered.
        assert [line.recv(100) for line in lines] == [b""] * len(lines)


def test_a_request_may_come_in_pieces(port: int) -> None:
    with visitor(port) as line:
        for byte in POST + b"abcd":
            line.sendall(bytes([byte]))
        answer = http.client.HTTPResponse(line)
        answer.begin()
        assert answer.read() == b"/b 4"
        answer.close()


def test_a_connection_is_kept_for_the_next_request(port: int) -> None:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    line.connect()
    first = line.sock
    for length in (3, 0, LONGEST_BODY + 1, 7):
        line.request("POST", "/d", b"a" * length)
        assert line.getresponse().read() == f"/d {length}".encode()
    assert line.sock is first
    line.close()


def test_who_goes_away_in_the_middle_is_forgotten(port: int) -> None:
    with visitor(port) as line:
        line.sendall(HEAD)
    assert asked(port, "/e") == b"/e 0"
