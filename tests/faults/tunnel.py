"""A port of our own in front of a server of RocketMQ: the site alone goes through it, and it may spoil the answers.

The consumers of a test go around it, so that the truth goes on while the site is lied to.
"""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from dashboard.demo.children import free_ports

OPAQUE = re.compile(rb'"opaque":(\d+)')
LOOK_SECONDS = 0.2


class Spoil(Enum):
    """What becomes of an answer."""

    NOTHING = "passes"
    SILENT = "is never given"
    DRIP = "comes by one byte a second"
    GARBAGE = "is random bytes"
    FOREIGN = "carries the number of another request"
    CUT = "ends in its middle, with the connection"


class Tunnel:
    """Open from its creation until `close`. `rewrites`: texts of the answers that are replaced by others as long."""

    def __init__(self, upstream: int) -> None:
        self.upstream, self.spoil = upstream, Spoil.NOTHING
        self.rewrites: dict[bytes, bytes] = {}
        self.port = free_ports(0)
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def turn(self, spoil: Spoil) -> None:
        """From now on. Answers that are under way are still given as they were begun."""
        self.spoil = spoil
        if spoil is Spoil.NOTHING:
            self.cut()

    def lead_to(self, upstream: int) -> None:
        """Connections of now are cut, the next lead there."""
        self.upstream = upstream
        self.cut()

    def cut(self) -> None:
        with self._lock:
            connections, self._connections = self._connections, set()
        for one in connections:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._closed.set()
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.upstream), timeout=5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        with self._lock:
            self._connections |= {client, server}
        threading.Thread(target=_pump, args=(client, server), daemon=True).start()
        with contextlib.suppress(OSError):
            for frame in _frames(server):
                for piece in self._spoiled(frame):
                    client.sendall(piece)
        for one in (client, server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        with self._lock:
            self._connections -= {client, server}

    def _spoiled(self, frame: bytes) -> Iterable[bytes]:
        for old, new in self.rewrites.items():
            assert len(old) == len(new)
            frame = frame.replace(old, new)
        return SPOILED[self.spoil](frame)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _frames(connection: socket.socket) -> Iterator[bytes]:
    """Whole frames, each with the four bytes that tell its length."""
    with connection.makefile("rb") as stream:
        while len(length := stream.read(4)) == 4:
            yield length + stream.read(int.from_bytes(length))


def _drip(frame: bytes) -> Iterator[bytes]:
    for byte in frame:
        yield bytes([byte])
        time.sleep(1)


def _foreign(frame: bytes) -> Iterator[bytes]:
    """Requests are numbered one after the other: the next number is another's, or will be."""
    other = OPAQUE.sub(lambda found: b'"opaque":%d' % (int(found[1]) + 1), frame[4:], count=1)
    grown = len(other) - (len(frame) - 4)
    header = int.from_bytes(other[1:4]) + grown
    other = other[:1] + header.to_bytes(3) + other[4:]
    yield len(other).to_bytes(4) + other


def _cut(frame: bytes) -> Iterator[bytes]:
    yield frame[: len(frame) // 2]
    raise ConnectionResetError("as the fault wants it")


SPOILED: dict[Spoil, Callable[[bytes], Iterable[bytes]]] = {
    Spoil.NOTHING: lambda frame: [frame],
    Spoil.SILENT: lambda frame: [],
    Spoil.DRIP: _drip,
    Spoil.GARBAGE: lambda frame: [bytes((7 * place + byte) % 256 for place, byte in enumerate(frame))],
    Spoil.FOREIGN: _foreign,
    Spoil.CUT: _cut,
}
