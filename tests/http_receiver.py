"""A real receiver of HTTP on loopback, which answers as a test tells it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


def status(code: int, text: str = "", **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Length", str(len(text.encode())))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(text.encode())

    return answer


def closes_half_way(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 20")


def never_ends(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"and so on " * 1000)
    except OSError:
        return


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    content: bytes


@dataclass
class HttpReceiver:
    """The answers are given in their order, the last of them for ever. `gone_on` ends those that wait."""

    port: int
    answers: list[Answer] = field(default_factory=lambda: [status(200, "ok")])
    received: list[Received] = field(default_factory=list)
    gone_on: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def never_answers(self, handler: BaseHTTPRequestHandler) -> None:
        self.gone_on.wait(80)

    def drips(self, handler: BaseHTTPRequestHandler) -> None:
        """A byte at a time, so that no timeout of a socket ever comes."""
        try:
            while not self.gone_on.wait(0.02):
                handler.wfile.write(b"H")
        except OSError:
            return


@contextmanager
def http_receiver(port: int = 0) -> Iterator[HttpReceiver]:
    """Where no port is said, on one that is free."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            receiver.received.append(Received(self.path, dict(self.headers), content))
            (receiver.answers.pop(0) if len(receiver.answers) > 1 else receiver.answers[0])(self)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: Any) -> None:
            """Tests say what was received."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    receiver = HttpReceiver(server.server_port)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    try:
        yield receiver
    finally:
        receiver.gone_on.set()
        server.shutdown()
        server.server_close()
        serving.join()
