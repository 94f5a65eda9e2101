import socket
from pathlib import Path

import pytest

from dashboard.launch.launcher import check_port, check_socket_path, only_one
from dashboard.launch.supervisor import LaunchFailed


def test_it_refuses_a_second_launcher_in_the_same_home(tmp_path: Path) -> None:
    with (
        only_one(tmp_path),
        pytest.raises(LaunchFailed, match=r"already runs in .* \(process \d+\)"),
        only_one(tmp_path),
    ):
        pass


def test_it_lets_the_next_launcher_in_after_the_first(tmp_path: Path) -> None:
    with only_one(tmp_path):
        pass
    with only_one(tmp_path):
        assert (tmp_path / "up.lock").read_text().isdigit()


def test_it_refuses_a_port_that_somebody_listens_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(LaunchFailed, match=rf"Port {port} cannot be had .*: make run PORT={port + 1}"):
            check_port("127.0.0.1", port)


def test_it_accepts_a_port_that_was_just_let_go() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    assert check_port("127.0.0.1", port) is None


@pytest.mark.parametrize(("length", "fits"), [(107, True), (108, False)])
def test_it_knows_how_long_a_unix_sockets_path_may_be(length: int, fits: bool) -> None:
    path = Path("/" + "x" * (length - 1))
    if fits:
        check_socket_path(path)
        return
    with pytest.raises(LaunchFailed, match="too long for a Unix socket"):
        check_socket_path(path)
