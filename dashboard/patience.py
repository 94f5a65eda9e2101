"""What the web server waits for: whole requests, and statements of a bounded length.

The worker is Gunicorn's threaded one, where a request gets a thread only after it has arrived completely.

Gunicorn (27.0, gthread) reads in a thread: as many visitors as there are threads, each with half a request, and nobody
else is answered. Here the loop of the worker reads; those who are too slow are sent away.
"""

import re
import socket
import time
from functools import partial
from selectors import EVENT_READ
from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from gunicorn.workers.gthread import TConn, ThreadWorker

# For a whole request: a poor line sends some hundred bytes in it.
REQUEST_SECONDS = 10.0
# In the middle of a longer body, or of an answer that is not taken.
SILENT_SECONDS = 30.0
# Of what the loop keeps for a visitor. Longer bodies are read in a thread, where Django bounds them.
LONGEST_HEAD, LONGEST_BODY = 64 * 1024, 256 * 1024
PIECE = 64 * 1024

_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,15})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
# Whoever sends these goes on only when it has been answered, or says nowhere how long its body is.
_UNMEASURED = re.compile(rb"^(?:expect|transfer-encoding):", re.IGNORECASE | re.MULTILINE)


def is_whole(begun: bytes) -> bool:
    """Whether a thread can answer it without waiting, or it is too long to be kept."""
    end = begun.find(_HEAD_END)
    if end < 0:
        return len(begun) > LONGEST_HEAD
    head, body = begun[: end + 2], len(begun) - end - len(_HEAD_END)
    length = _LENGTH.search(head)
    if length is None or _UNMEASURED.search(head):
        return True
    wanted = int(length.group(1))
    return body >= wanted or wanted > LONGEST_BODY


class PatientConnection(TConn):
    """`begun`: what the loop has read of the next request."""

    begun = b""

    def init(self) -> None:
        super().init()
        self.sock.settimeout(SILENT_SECONDS)
        if self.begun:
            self.parser.unreader.unread(self.begun)
            self.begun = b""


class PatientWorker(ThreadWorker):
    def accept(self, listener: socket.socket) -> None:
        try:
            line, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        self.nr_conns += 1
        self._wait_for_request(PatientConnection(self.cfg, line, address, listener.getsockname()))

    def on_client_socket_readable(self, conn: Any, client: socket.socket) -> None:
        """The next request of a connection that was kept begins."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._wait_for_request(conn)

    def _wait_for_request(self, conn: PatientConnection) -> None:
        # Gunicorn closes those of this list whose time is over, the first first.
        conn.timeout = time.monotonic() + REQUEST_SECONDS
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(self._read_on, conn))

    def _read_on(self, conn: PatientConnection, line: socket.socket) -> None:
        try:
            piece = line.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        conn.begun += piece
        if piece and not is_whole(conn.begun):
            return
        self.poller.unregister(line)
        self.pending_conns.remove(conn)
        if piece:
            conn.data_ready = True
            self.enqueue_req(conn)
        else:
            self.nr_conns -= 1
            conn.close()


def bound_statements() -> None:
    """Bounds what this process sends to PostgreSQL, on every connection from now on.

    For the web server alone: work in the background takes its time.
    """
    connection_created.connect(_bound, dispatch_uid="consumerscope.statements")


def _bound(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if connection.vendor != "postgresql":
        return
    milliseconds = round(settings.DATABASE_STATEMENT_SECONDS * 1000)
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, false)", [str(milliseconds)])
