"""Run as a script: ties the program that it becomes to the life of its parent.

    python -I -S leash.py PARENT_PID SLACK_MILLISECONDS program argument…

A small program of its own, not a function between fork and exec: the parent has threads, and Python code must not run
in a forked copy of a process with threads. Where the kernel knows no death signal (not Linux) it runs without one.

With a slack above zero the kernel may wake the program's threads that much later than they asked for, and so wakes
several at once: a program that looks every millisecond whether there is work then looks once in that time.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_TIMERSLACK = 29


def main(parent_pid: int, slack_milliseconds: int, program: list[str]) -> None:
    if sys.platform == "linux":
        kernel = ctypes.CDLL(None, use_errno=True)
        # It survives exec. SIGKILL, as a JVM asked politely may take long over its shutdown hooks, and nobody waits.
        if kernel.prctl(PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
            sys.exit(f"The kernel refused a death signal: {os.strerror(ctypes.get_errno())}.")
        if os.getppid() != parent_pid:
            sys.exit("The parent died before this program began.")
        # A kernel that does not know it wakes the program as often as it asks.
        kernel.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(slack_milliseconds * 1_000_000))
    os.execv(program[0], program)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
