"""Run as a script: ties the program that it becomes to the life of its parent.

    python -I -S leash.py PARENT_PID program argument…

A small program of its own, not a function between fork and exec: the parent has threads, and Python code must not run
in a forked copy of a process with threads. Where the kernel knows no death signal (not Linux) it runs without one.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent_pid: int, program: list[str]) -> None:
    if sys.platform == "linux":
        # It survives exec. SIGKILL, as a JVM asked politely may take long over its shutdown hooks, and nobody waits.
        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
            sys.exit(f"The kernel refused a death signal: {os.strerror(ctypes.get_errno())}.")
        if os.getppid() != parent_pid:
            sys.exit("The parent died before this program began.")
    os.execv(program[0], program)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
