"""What this machine's two clocks show: the time, which somebody may set, and the uptime, which nobody can."""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.utils import timezone

BOOT_ID, TIME_NAMESPACE = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/time")


@dataclass(frozen=True)
class Machine:
    """`boot`: within one, uptimes of all processes can be compared."""

    boot: str
    name: str
    clock: Callable[[], datetime]
    uptime: Callable[[], float]


def this_machine() -> Machine:
    name = socket.gethostname()
    try:
        # A container may have an uptime of its own.
        boot = f"{BOOT_ID.read_text().strip()}-{TIME_NAMESPACE.stat().st_ino}"
    except OSError:
        # Elsewhere than on Linux no boot has a name: each process watches for itself.
        return Machine(f"{name}-{os.getpid()}", name, timezone.now, time.monotonic)
    # It counts while the machine is suspended, as the clock does.
    return Machine(boot, name, timezone.now, lambda: time.clock_gettime(time.CLOCK_BOOTTIME))
