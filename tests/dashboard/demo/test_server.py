"""A server is started until it says that it serves."""

import sys
from pathlib import Path

import pytest

from dashboard.demo.server import Server, ServerNotStarted

SERVES = "import time; print('boot success', flush=True); time.sleep(60)"


def server(program: str, folder: Path) -> Server:
    return Server("Broker x", lambda: [sys.executable, "-c", program], "boot success", folder / "console.log")


def test_a_server_runs_once_it_has_said_so_and_has_no_pid_when_killed(tmp_path: Path) -> None:
    started = server(SERVES, tmp_path)
    assert started.pid is None
    started.launch()
    started.wait_until_it_serves()
    assert started.pid is not None
    started.kill()
    assert started.pid is None


def test_a_server_that_runs_is_not_launched_twice(tmp_path: Path) -> None:
    started = server(SERVES, tmp_path)
    started.launch()
    pid = started.pid
    started.launch()
    assert started.pid == pid
    started.kill()


def test_a_server_can_be_launched_again_and_must_say_it_again(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    program = (
        f"import pathlib, sys; m = pathlib.Path({str(marker)!r}); sys.exit(3) if m.exists() else m.touch()\n{SERVES}"
    )
    started = server(program, tmp_path)
    started.launch()
    started.wait_until_it_serves()
    started.kill()
    started.launch()
    with pytest.raises(ServerNotStarted, match="Broker x ended with 3 at its start"):
        started.wait_until_it_serves()


def test_a_server_that_ends_at_its_start_names_its_log(tmp_path: Path) -> None:
    started = server("import sys; sys.exit(7)", tmp_path)
    started.launch()
    with pytest.raises(ServerNotStarted, match=rf"ended with 7 at its start: see {tmp_path}/console.log"):
        started.wait_until_it_serves()


def test_a_server_that_asked_for_nothing_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(ServerNotStarted, match="never launched"):
        server(SERVES, tmp_path).wait_until_it_serves()
