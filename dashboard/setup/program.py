"""What `python3 dashboard/setup` does, in order. It says what takes long, and one sentence when it cannot go on."""

import fcntl
import os
import sys
from pathlib import Path

from .environment import Environment
from .java import ensure_java
from .trouble import SetupFailed


def say(text: str) -> None:
    print(text, flush=True)


def run(root: str) -> int:
    """The exit code: 0 ready, 1 not, 130 interrupted."""
    try:
        prepare(Path(root))
    except SetupFailed as failure:
        print(failure, file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("Interrupted: the next start goes on from here.", file=sys.stderr, flush=True)
        return 130
    return 0


def prepare(root: Path) -> None:
    ensure_java(os.environ, say, may_install=os.geteuid() == 0)
    lock = root / "requirements.lock"
    # Held on the lock file itself: of two that start at once, one installs and the other waits.
    with lock.open() as only_one:
        fcntl.flock(only_one, fcntl.LOCK_EX)
        Environment(root / ".venv", lock).ensure(say)
