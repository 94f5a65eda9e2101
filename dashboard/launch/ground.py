"""What must hold before anything starts: one launcher per home, a free port, a short enough socket path."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .trouble import LaunchFailed

# sun_path of sockaddr_un, with its closing zero (Linux).
SOCKET_PATH_BYTES = 107


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Holds the home for the block. The kernel lets go of it when this process dies, however it dies."""
    with (home / "up.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise LaunchFailed(
                f"Consumerscope already runs in {home} (process {holder}): end that one first, "
                "or set CONSUMERSCOPE_HOME to another folder."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        # As the web server will: a connection that lingers from the last run is no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise LaunchFailed(
                f"Port {port} cannot be had ({error.strerror}): end what listens there, "
                f"or choose another: make run PORT={port + 1}"
            ) from error


def check_socket_path(path: Path) -> None:
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        raise LaunchFailed(
            f"{path} is too long for a Unix socket ({SOCKET_PATH_BYTES} bytes at most): "
            "set CONSUMERSCOPE_HOME to a shorter folder, or REDIS_URL to a Redis of your own."
        )
