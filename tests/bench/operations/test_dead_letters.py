"""The bench's measures of an export count what arrives, and refuse one that is not whole."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.bench.operations.dead_letter_site import Site


@contextmanager
def answering(body: bytes) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield Site(f"http://127.0.0.1:{server.server_port}", "token", "session", os.getpid(), os.getpid())
        finally:
            server.shutdown()


def test_an_export_tells_what_it_took_and_what_was_held() -> None:
    with answering(b'{"offset": 0}\n{"offset": 1}\n') as site:
        seconds, worker, web = site.export("many", 2)
    assert 0 < seconds < 10
    assert worker > 1
    assert web > 1


@pytest.mark.parametrize("body", [b'{"offset": 0}\n', b'{"offset": 0}\n{"error": "gone", "messages": 1}\n'])
def test_an_export_that_is_not_whole_ends_the_bench(body: bytes) -> None:
    with answering(body) as site, pytest.raises(SystemExit, match="its time says nothing"):
        site.export("many", 2)
