"""Child processes of the demo: started and ended, and their ports."""

import contextlib
import fcntl
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .java import DemoFailed

# Starts programs that end with this process, and ends them.
#
# Start them from a thread that lives on: Linux sends the death signal when the *thread* that started the child ends.
LEASH = Path(__file__).with_name("leash.py")

STOP_SECONDS = 10.0


def start_child(
    program: Sequence[str | Path],
    *,
    log: Path,
    environ: Mapping[str, str] | None = None,
    piped: bool = False,
    slack_milliseconds: int = 0,
) -> subprocess.Popen[bytes]:
    """Runs `program` in a process group of its own, so that a Ctrl-C at the terminal reaches only its supervisor.

    What it prints goes to `log`. `piped` leaves standard input and output to the caller; errors still go to `log`.
    `slack_milliseconds`: how much later than they asked for its threads may be woken (leash.py).
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-I", "-S", str(LEASH), str(os.getpid()), str(slack_milliseconds), *map(str, program)]
    with log.open("ab") as errors:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
            stdout=subprocess.PIPE if piped else errors,
            stderr=errors,
            env=None if environ is None else dict(environ),
            process_group=0,
        )


def stop_child(child: subprocess.Popen[bytes], *, grace_seconds: float = STOP_SECONDS) -> None:
    """Asks the child to end; kills its group when it has not within the grace."""
    if child.poll() is None:
        child.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(grace_seconds)
    kill_child(child)


def kill_child(child: subprocess.Popen[bytes]) -> None:
    """Kills the child's whole group and takes its exit code."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


# Free ports on the loopback.
# Below the range from which Linux takes the near end of outgoing connections (32768 and up): a port found free here is
# not lost to some client between this look and the server's start, and it can be had again after a restart.
LOWEST, HIGHEST = 20_000, 32_000

# A port is given out with its neighbours, from two below to one above: a broker takes three of the four.
BELOW, BLOCK = 2, 4

ATTEMPTS = 200


class NoFreePort(DemoFailed):
    """No port could be had on the loopback."""


def free_ports(*offsets: int, lowest: int = LOWEST, highest: int = HIGHEST) -> int:
    """A port of the range (its end is not in it) such that it plus each of `offsets` (-2 to 1) is free.

    It is this process's until that ends: a server binds its ports seconds after they were chosen, and a killed one
    wants them again.
    """
    blocks = range(lowest, highest, BLOCK)
    for _ in range(ATTEMPTS):
        block = secrets.choice(blocks)
        port = block + BELOW
        if are_free([port + offset for offset in offsets]) and _is_reserved(block):
            return port
    raise NoFreePort(f"No free port was found from {lowest} to {highest - 1}: end what listens there.")


def _is_reserved(block: int) -> bool:
    """Whether the block is this process's from now on; False where it already is, or another's."""
    folder = Path(tempfile.gettempdir()) / f"consumerscope-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    # Stays open, and so locked, as long as this process lives.
    descriptor = os.open(folder / str(block), os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    return True


def are_free(ports: list[int]) -> bool:
    with contextlib.ExitStack() as held:
        for port in ports:
            listener = held.enter_context(socket.socket())
            try:
                listener.bind(("", port))
            except OSError:
                return False
    return True
