"""Who holds a lease: a process of this machine, told apart from all others, so that one that is gone is noticed."""

import os
import uuid
from pathlib import Path

# Who holds a lease: a process of this machine, told apart from all others, so that one that is gone is known to be.
PROC = Path("/proc")


def new_holder() -> str:
    """Of this process: where its number counts, its number, when it was started, and which lease of it."""
    pid = os.getpid()
    return f"{_place()}:{pid}:{_started(pid)}:{uuid.uuid4().hex[:8]}"


def is_gone(holder: str) -> bool:
    """Whether its process has certainly ended. False for one of another machine or container, where nobody can tell."""
    place, _, rest = holder.partition(":")
    pid, _, rest = rest.partition(":")
    started, _, _ = rest.partition(":")
    if not place or place != _place() or not pid.isdecimal() or not started:
        return False
    return _started(int(pid)) != started


def _place() -> str:
    """The start of this machine, and the set of processes in it that a number belongs to; empty off Linux."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{os.stat(PROC / 'self/ns/pid').st_ino}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """In ticks since the machine started; empty where there is no such process, or nobody can tell."""
    try:
        # Behind the name, which may hold anything, it is the twentieth.
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
