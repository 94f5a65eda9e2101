"""An S3 server that holds its objects in memory: `s3_child.py PORT`. It serves until it is killed.

- `GET /-/requests`: how many requests of which kind came since this was asked last.
- `POST /-/fail?puts=N&times=T`: N more objects are written, then T connections are dropped, `inf` for all.
- `POST /-/serve` ends that.
- `POST /-/delay?seconds=S`: each answer waits for so long.
"""

import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

Answer = Iterable[bytes]


class Watched:
    """The server's application, with requests counted and failures on demand."""

    def __init__(self, application: Callable[..., Answer]) -> None:
        self._application = application
        self._lock, self._one_at_a_time = threading.Lock(), threading.Lock()
        self._requests: Counter[str] = Counter()
        self._puts_left = self._drops_left = float("inf")
        self._delay_seconds = 0.0

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Answer:
        query = parse_qs(environ["QUERY_STRING"], keep_blank_values=True)
        if environ["PATH_INFO"].startswith("/-/"):
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(self._controlled(environ["PATH_INFO"].rsplit("/", 1)[1], query)).encode()]
        kind = _kind(environ["REQUEST_METHOD"], query)
        with self._lock:
            self._requests[kind] += 1
            self._puts_left -= kind == "PUT"
            is_down = self._puts_left < 0 < self._drops_left
            self._drops_left -= is_down
        if is_down:
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise ConnectionError("Down, as was asked for.")
        time.sleep(self._delay_seconds)
        # Its objects are not for several threads: one that replaces another closes what the other still reads.
        with self._one_at_a_time:
            return list(self._application(environ, start_response))

    def _controlled(self, what: str, query: dict[str, list[str]]) -> object:
        with self._lock:
            if what == "fail":
                self._puts_left, self._drops_left = int(query["puts"][0]) or -1, float(query["times"][0])
            elif what == "serve":
                self._puts_left = float("inf")
            elif what == "delay":
                self._delay_seconds = float(query["seconds"][0])
            counted, self._requests = self._requests, Counter() if what == "requests" else self._requests
            return dict(counted)


def _kind(method: str, query: dict[str, list[str]]) -> str:
    """As a store charges for it: parts of an upload are PUTs."""
    if method == "GET":
        return "LIST" if "list-type" in query else "GET"
    return "PUT" if method == "POST" and ("uploads" in query or "uploadId" in query) else method


if __name__ == "__main__":
    application = Watched(DomainDispatcherApplication(create_backend_app))
    make_server("127.0.0.1", int(sys.argv[1]), application, threaded=True).serve_forever()
