"""What is kept on this machine is for its user alone."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import CheckMessage

from dashboard.health import private_home
from dashboard.settings.home import make_private

ROOT = Path(__file__).resolve().parents[3]
# Django with its settings, as every process of the site has it.
WRITES = "import django; django.setup(); from django.core.management import call_command; call_command('check')"
WRITES += "; from django.db import connection; connection.ensure_connection(); open('{home}/lake', 'w').close()"


def mode_of(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def test_others_can_read_neither_the_home_nor_a_file_in_it(tmp_path: Path) -> None:
    home = tmp_path / "here" / "home"
    own = {"CONSUMERSCOPE_HOME": str(home), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "dashboard.settings"}
    command = [sys.executable, "-c", WRITES.format(home=home)]
    subprocess.run(command, cwd=ROOT, env=os.environ | own, check=True, umask=0o022, capture_output=True)
    found = {path.relative_to(home).as_posix(): mode_of(path) for path in [home, *home.iterdir()]}
    assert found["."] == "0o700"
    assert {"consumerscope.sqlite3", "lake", "secret_key"} <= found.keys()
    assert [name for name, mode in found.items() if not mode.endswith("00")] == []


def test_a_home_that_was_open_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private(tmp_path)
    assert mode_of(tmp_path) == "0o700"


def test_a_folder_that_all_users_share_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    make_private(tmp_path)
    assert mode_of(tmp_path) == "0o1777"
    tmp_path.chmod(0o700)


def test_a_home_of_another_user_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    make_private(tmp_path)
    assert mode_of(tmp_path) == "0o755"


@pytest.mark.parametrize(("mode", "warned"), [(0o700, False), (0o750, True), (0o1777, True)])
def test_a_home_that_stays_open_is_warned_of(settings: Any, tmp_path: Path, mode: int, warned: bool) -> None:
    settings.CONSUMERSCOPE_HOME = tmp_path
    tmp_path.chmod(mode)
    found: list[CheckMessage] = private_home()
    tmp_path.chmod(0o700)
    assert [message.id for message in found] == ["consumerscope.W002"] * warned
    assert all("chmod 700" in (message.hint or "") for message in found)
