"""A webhook receiver as a team would run one: it checks signatures, may be down, and notes what came, in order."""

import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from dashboard.demo.children import free_ports

SECRET = "a-secret-of-the-receiver"


class Receiver:
    """Up when made; `down` closes its port, `up` listens on the same one again."""

    def __init__(self) -> None:
        self._port = free_ports(0)
        self.url = f"http://127.0.0.1:{self._port}/hook"
        self._arrived: list[dict[str, Any]] = []
        self.forged = 0
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self.up()

    def up(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(204 if receiver.take(self.headers, body) else 403)
                self.end_headers()

            def log_message(self, *said: Any) -> None:
                """Nothing: what arrives is noted."""

        ThreadingHTTPServer.allow_reuse_address = True
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def down(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def take(self, headers: Any, body: bytes) -> bool:
        signed = f"{headers['Consumerscope-Timestamp']}.".encode() + body
        expected = f"v1={hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()}"
        message = json.loads(body)
        with self._lock:
            if (
                headers["Consumerscope-Signature"] != expected
                or headers["Consumerscope-Delivery"] != message["delivery"]
            ):
                self.forged += 1
                return False
            self._arrived.append(message)
            return True

    def on_the_wire(self) -> list[dict[str, Any]]:
        with self._lock:
            return list(self._arrived)

    def messages(self) -> list[dict[str, Any]]:
        """Each once, in the order in which it came first: as a receiver does that looks at the delivery's id."""
        return list({message["delivery"]: message for message in reversed(self.on_the_wire())}.values())[::-1]

    def changes(self) -> list[tuple[str, str, str]]:
        """(rule, subject, kind) of every change that was told, in order."""
        return [
            (message["rule"]["name"], name_of(event["incident"]["subject"]), event["kind"])
            for message in self.messages()
            if not message["is_test"]
            for event in message["events"]
        ]

    def told_of_each(self) -> dict[str, list[str]]:
        """By the id of each incident: the kinds of its changes, in order."""
        told: dict[str, list[str]] = {}
        for message in self.messages():
            for event in message["events"]:
                told.setdefault(event["incident"]["id"], []).append(event["kind"])
        return told

    def wait_for(self, rule: str, subject: str, kind: str, seconds: float = 480) -> None:
        deadline = time.monotonic() + seconds
        while (rule, subject, kind) not in self.changes():
            assert time.monotonic() < deadline, f"{kind} of {rule}: {subject} was not told; told: {self.changes()}"
            time.sleep(0.1)


def name_of(subject: dict[str, str]) -> str:
    return subject["group"] or subject["broker"] or subject["cluster"]
