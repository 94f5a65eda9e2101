"""The command lines of RocketMQ's servers."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dashboard.demo.java import Java
from dashboard.demo.server import broker_command, name_server_command

JAVA = Java(path=Path("/java/bin/java"), major=17)


def commands(folder: Path, more: Sequence[str]) -> list[list[str | Path]]:
    return [
        name_server_command(JAVA, Path("/jars"), folder, 9876, more),
        broker_command(JAVA, Path("/jars"), folder, folder / "broker.conf", more),
    ]


@pytest.mark.parametrize(("more", "mode"), [([], "disabled"), (["-Dtls.server.mode=enforcing"], "enforcing")])
def test_servers_take_no_tls_unless_the_caller_wants_it(tmp_path: Path, more: list[str], mode: str) -> None:
    """Java takes the last of several."""
    for command in commands(tmp_path, more):
        modes = [str(word) for word in command if str(word).startswith("-Dtls.server.mode=")]
        assert modes[-1] == f"-Dtls.server.mode={mode}"
