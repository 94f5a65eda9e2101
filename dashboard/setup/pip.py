"""Runs pip on a locked file, and tells how far it is. Pip's own configuration is left to the user."""

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from .pip_lines import Progress, reason_of
from .trouble import SetupFailed

Say = Callable[[str], None]
REMINDER_SECONDS = 20.0


def install(python: Path, requirements: Path, packages: int, say: Say) -> None:
    # The lock names every package: nothing is left to resolve, and builders come from it too, so no isolation.
    command: list[str | Path] = [python, "-m", "pip", "install", "--require-hashes", "--no-deps"]
    command += ["--no-build-isolation", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    command += ["--requirement", requirements]
    progress = Progress(packages)
    done = threading.Event()
    reminder = threading.Thread(target=_remind, args=(progress, done, say), daemon=True)
    reminder.start()
    lines: list[str] = []
    try:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as pip:
            assert pip.stdout is not None
            for line in pip.stdout:
                lines.append(line.strip())
                told = progress.read(line)
                if told:
                    say(told)
    finally:
        done.set()
        reminder.join()
    if pip.returncode != 0:
        raise SetupFailed(reason_of(lines))


def _remind(progress: Progress, done: threading.Event, say: Say) -> None:
    """A download of hundreds of megabytes, or a build, prints nothing for minutes."""
    while not done.wait(REMINDER_SECONDS):
        say(f"  … still at it: {progress.doing}")
