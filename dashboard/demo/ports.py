"""Free ports on the loopback."""

import contextlib
import secrets
import socket

from .failures import DemoFailed

# Below the range from which Linux takes the near end of outgoing connections (32768 and up): a port found free here is
# not lost to some client between this look and the server's start, and it can be had again after a restart.
LOWEST, HIGHEST = 20_000, 32_000
ATTEMPTS = 200


class NoFreePort(DemoFailed):
    """No port could be had on the loopback."""


def free_ports(*offsets: int, lowest: int = LOWEST, highest: int = HIGHEST) -> int:
    """A port of the range (its end is not in it) such that it plus each of `offsets` is free."""
    for _ in range(ATTEMPTS):
        port = lowest + secrets.randbelow(highest - lowest)
        if _are_free([port + offset for offset in offsets]):
            return port
    raise NoFreePort(f"No free port was found from {lowest} to {highest - 1}: end what listens there.")


def _are_free(ports: list[int]) -> bool:
    with contextlib.ExitStack() as held:
        for port in ports:
            listener = held.enter_context(socket.socket())
            try:
                listener.bind(("", port))
            except OSError:
                return False
    return True
