"""Other processes of a bench: Python in one of its own, and what the brokers' spend."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def python(module: str, *words: str, **environ: str) -> str:
    """What the module prints; what it complains of, where it fails, ends this program too."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=PROJECT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{module} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of the processes so far (fields 14 and 15 of /proc/PID/stat)."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
