"""The command of Compose's Redis, word for word, on a Redis of this machine."""

import os
from pathlib import Path

import pytest
import redis

from dashboard.demo.children import free_ports, start_child, stop_child
from dashboard.launch.launcher import redis_program
from dashboard.launch.supervisor import Supervisor
from tests.containers.compose import services


def test_it_lets_nobody_in_without_the_password(tmp_path: Path) -> None:
    service, port = services()["redis"], free_ports(0)
    server = redis_program(tmp_path / "redis.sock", os.environ).command[0]
    shell, flag, command = service["command"]
    # Its own port is taken where another Redis runs, and would be open to others.
    here = command.replace("$$", "$").replace("redis-server -", f"{server} - --port {port} --bind 127.0.0.1")
    assert here.count(str(port)) == 1
    child = start_child(
        [f"/bin/{shell}", flag, here], log=tmp_path / "log", environ={**os.environ, **service["environment"]}
    )
    stranger, known = (redis.Redis(port=port, password=password) for password in (None, "of-redis"))
    try:
        Supervisor(tmp_path, print).wait_until(lambda: _answers(stranger), seconds=30, otherwise="It did not start.")
        with pytest.raises(redis.exceptions.AuthenticationError):
            stranger.ping()
        assert known.ping()
        assert known.config_get("save", "appendonly") == {"save": "", "appendonly": "no"}
        with Path(f"/proc/{known.info('server')['process_id']}/cmdline").open("rb") as told:
            assert b"of-redis" not in told.read()
    finally:
        stranger.close()
        known.close()
        stop_child(child, grace_seconds=5)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.exceptions.AuthenticationError:
        return True
    except redis.exceptions.ConnectionError:
        return False
