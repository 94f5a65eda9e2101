import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.launch.launcher import answers, clear_stale_socket, redis_program
from dashboard.launch.supervisor import LaunchFailed, Supervisor


@pytest.fixture
def redis_socket(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "redis.sock"
    supervisor = Supervisor(tmp_path / "logs", print)
    supervisor.start(redis_program(path, os.environ))
    try:
        supervisor.wait_until(lambda: answers(f"unix://{path}"), seconds=20, otherwise="Redis did not start")
        yield path
    finally:
        supervisor.stop()


def test_it_listens_for_this_user_alone(redis_socket: Path) -> None:
    assert stat.S_IMODE(redis_socket.stat().st_mode) == 0o700


def test_it_refuses_the_socket_of_a_redis_that_answers(redis_socket: Path) -> None:
    with pytest.raises(LaunchFailed, match="A Redis that this start did not begin answers"):
        clear_stale_socket(redis_socket)


def test_it_removes_a_socket_where_nobody_listens(tmp_path: Path) -> None:
    path = tmp_path / "redis.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    clear_stale_socket(path)
    assert not path.exists()


def test_it_says_that_nobody_answers(tmp_path: Path) -> None:
    assert not answers(f"unix://{tmp_path / 'nobody.sock'}")
