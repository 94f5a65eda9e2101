import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from dashboard.launch.supervisor import Child

ROOT = Path(__file__).resolve().parents[3]
SLEEPER = "import time; time.sleep(600)"
# Starts a sleeper in its own group, tells its number, and then waits or ends.
PARENT = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}])
print(child.pid, flush=True)
"""


def wait_for(condition) -> None:
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def runs(pid: int) -> bool:
    """False for a process that has ended, even when nobody has asked for its exit code yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_it_tells_the_exit_code_once_the_program_has_ended(tmp_path: Path) -> None:
    child = Child((sys.executable, "-c", "raise SystemExit(4)"), tmp_path / "log", os.environ)
    wait_for(lambda: child.exit_code() is not None)
    assert child.exit_code() == 4


def test_it_ends_what_a_program_left_behind_when_it_ended(tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = Child((sys.executable, "-c", PARENT), log, os.environ)
    wait_for(lambda: child.exit_code() is not None)
    left = int(log.read_text())
    wait_for(lambda: not runs(left))


def test_it_ends_a_program_that_ignores_the_request(tmp_path: Path) -> None:
    deaf = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); {SLEEPER}"
    log = tmp_path / "log"
    child = Child((sys.executable, "-c", deaf), log, os.environ)
    wait_for(lambda: "deaf" in log.read_text())
    child.ask_to_end()
    child.kill()
    wait_for(lambda: child.exit_code() is not None)
    assert child.exit_code() == -signal.SIGKILL


def test_it_dies_with_its_parent_even_when_that_is_killed(tmp_path: Path) -> None:
    launcher = f"""
import os, sys, time
from pathlib import Path
from dashboard.launch.supervisor import Child
print(Child((sys.executable, "-c", {SLEEPER!r}), Path({str(tmp_path / "log")!r}), os.environ).pid, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", launcher], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert runs(pid)
        parent.kill()
    wait_for(lambda: not runs(pid))
