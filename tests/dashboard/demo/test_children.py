"""Programs that end with the process that started them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from dashboard.demo.children import kill_child, start_child, stop_child

DEAF = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
)
PARENT = """
import os, sys
from pathlib import Path
from dashboard.demo.children import start_child
program = "import time; print('began', flush=True); time.sleep(60)"
child = start_child([sys.executable, "-c", program], log=Path(sys.argv[1]), piped=True)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_what_a_child_prints_is_in_its_log(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "import sys; print('said'); print('wrong', file=sys.stderr)"]
    child = start_child(program, log=tmp_path / "logs" / "child.log")
    assert child.wait(80) == 0
    assert sorted((tmp_path / "logs" / "child.log").read_text().split()) == ["said", "wrong"]


def test_a_piped_child_answers_on_its_pipe_and_complains_in_its_log(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "import sys; print(input()); print('wrong', file=sys.stderr)"]
    child = start_child(program, log=tmp_path / "log", piped=True)
    assert child.communicate(b"word\n", timeout=80) == (b"word\n", None)
    assert (tmp_path / "log").read_text() == "wrong\n"


@pytest.mark.parametrize(("slack", "nanoseconds"), [(0, 50_000), (50, 50_000_000)])
def test_a_child_is_woken_later_than_it_asks_only_where_it_is_told_so(
    tmp_path: Path, slack: int, nanoseconds: int
) -> None:
    program = ["/bin/cat", "/proc/self/timerslack_ns"]
    child = start_child(program, log=tmp_path / "log", slack_milliseconds=slack)
    assert child.wait(80) == 0
    assert int((tmp_path / "log").read_text()) == nanoseconds


def test_a_child_has_a_process_group_of_its_own(tmp_path: Path) -> None:
    child = start_child([sys.executable, "-c", "input()"], log=tmp_path / "log", piped=True)
    assert os.getpgid(child.pid) == child.pid
    kill_child(child)
    assert child.returncode == -signal.SIGKILL


def test_a_child_that_is_deaf_to_sigterm_is_killed(tmp_path: Path) -> None:
    child = start_child([sys.executable, "-c", DEAF], log=tmp_path / "log", piped=True)
    assert child.stdout is not None
    assert child.stdout.readline() == b"deaf\n"
    stop_child(child, grace_seconds=0.1)
    assert child.returncode == -signal.SIGKILL


def test_a_child_dies_when_its_parent_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path / "log")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    _, alive = psutil.wait_procs([child], timeout=10)
    assert alive == []


def test_a_program_does_not_begin_when_its_parent_is_gone(tmp_path: Path) -> None:
    leash = Path(start_child.__code__.co_filename).with_name("leash.py")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(80)
    command = [sys.executable, str(leash), str(gone.pid), "0", sys.executable, "-c", "print('began')"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=80, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "The parent died before this program began.\n"
