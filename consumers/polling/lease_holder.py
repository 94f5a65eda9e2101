"""Identifies the holder of a lease: a process of this machine, distinct from all others, so that its end is detected.

Needs no Django: any process can say who it is.
"""

import os
import uuid
from pathlib import Path

PROC = Path("/proc")


def new_holder() -> str:
    """The holder id of this process: the scope of its process id, the process id, its start, and a random id
    of the lease.
    """
    pid = os.getpid()
    return f"{_place()}:{pid}:{_started(pid)}:{uuid.uuid4().hex[:8]}"


def is_gone(holder: str) -> bool:
    """Whether the holder's process has certainly ended. False for a process of another machine or container: its state
    is unknown.
    """
    place, _, rest = holder.partition(":")
    pid, _, rest = rest.partition(":")
    started, _, _ = rest.partition(":")
    if not place or place != _place() or not pid.isdecimal() or not started:
        return False
    return _started(int(pid)) != started


def _place() -> str:
    """The start of this machine and the process id namespace; empty if the system is not Linux."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{os.stat(PROC / 'self/ns/pid').st_ino}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """The start of a process in ticks since the machine started; empty if there is no such process or its start is
    unknown.
    """
    try:
        # The start is the twentieth field after the name, and the name may contain anything.
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
