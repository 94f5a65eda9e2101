"""`python -m dashboard.demo` where it cannot run: one sentence, no traceback."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from dashboard.demo.actors.actor import PROJECT


def run_demo(home: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dashboard.demo"],
        cwd=PROJECT,
        env={**os.environ, "CONSUMERSCOPE_HOME": str(home), **environ},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def java_17(folder: Path) -> str:
    path = folder / "java" / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    path.chmod(0o755)
    return str(folder / "java")


def test_a_machine_without_java_is_told_so(tmp_path: Path) -> None:
    ended = run_demo(tmp_path, JAVA_HOME=str(tmp_path / "nowhere"))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.endswith("correct or unset JAVA_HOME.\n")


def test_a_second_demo_in_the_same_home_is_refused(tmp_path: Path) -> None:
    (tmp_path / "jars" / "rocketmq-5.4.0").mkdir(parents=True)
    with (tmp_path / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = run_demo(tmp_path, JAVA_HOME=java_17(tmp_path), CONSUMERSCOPE_JARS=str(tmp_path / "jars"))
    assert ended.returncode == 1
    assert ended.stderr == f"A demo already runs in {tmp_path}: end it, or set CONSUMERSCOPE_HOME.\n"


def test_a_cluster_that_cannot_start_is_told_with_its_log(tmp_path: Path) -> None:
    (tmp_path / "jars" / "rocketmq-5.4.0").mkdir(parents=True)
    ended = run_demo(tmp_path, JAVA_HOME=java_17(tmp_path), CONSUMERSCOPE_JARS=str(tmp_path / "jars"))
    assert (ended.returncode, ended.stdout) == (1, "")
    console = tmp_path / "demo" / "namesrv" / "console.log"
    assert ended.stderr == f"The name server ended with 0 at its start: see {console}.\n"
