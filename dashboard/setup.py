"""Makes a checkout ready: Java, an environment in .venv, the locked packages.

Runs before anything is installed, so it imports only what Python brings; and by any Python from 3.8 on: one that is
too old hands over to a newer one, or says so.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping
from pathlib import Path

WANTED = (3, 11)
# Without venv and ensurepip no environment can be made: Debian keeps them in a package of their own.
TRIAL = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
# A distribution has one or two of these. Its default comes last: on older ones it is older than 17.
JAVA_PACKAGES = (
    "openjdk-17-jre-headless",
    "openjdk-21-jre-headless",
    "openjdk-25-jre-headless",
    "default-jre-headless",
)
# What builds the packages that are published as source only: their lines of the lock, installed before all others.
BUILDERS = re.compile(r"^(?:packaging|setuptools|wheel)==.*\n(?: .*\n)*", re.MULTILINE)
UNFINISHED = "unfinished"


class SetupFailed(Exception):
    """The checkout cannot be made ready; the text says in one sentence why, and what to do."""


def hand_over() -> None:
    """Becomes a newer Python, found on PATH by its name. Ends where there is none."""
    for name in ("python3.13", "python3.12", "python3.11"):
        path = shutil.which(name)
        if path and subprocess.call([path, "-c", TRIAL], stderr=subprocess.DEVNULL) == 0:
            os.execv(path, [path, os.path.abspath(__file__)])
    sys.exit(
        f"Python {sys.version_info[0]}.{sys.version_info[1]} is too old: install Python {WANTED[0]}.{WANTED[1]} or "
        "later, or name one: make PYTHON=/path/to/python3 …"
    )


def ensure_java(environ: Mapping[str, str], *, may_install: bool) -> None:
    """Java 17 or later: the one of this machine, else the distribution's, where that may be installed."""
    from dashboard.demo.java import LEAST_MAJOR, JavaNotFound, find_java

    if not environ.get("JAVA_HOME") and shutil.which("java", path=environ.get("PATH")) is None:
        apt_get = shutil.which("apt-get", path=environ.get("PATH"))
        if apt_get is None or not may_install:
            raise SetupFailed(
                f"Java is missing: install Java {LEAST_MAJOR} or later, for example by "
                f"'sudo apt-get install {JAVA_PACKAGES[0]}', or point JAVA_HOME at one."
            )
        _install_java(apt_get, environ)
    try:
        find_java(environ)
    except JavaNotFound as failure:
        raise SetupFailed(str(failure)) from failure


def _install_java(apt_get: str, environ: Mapping[str, str]) -> None:
    print("Java is missing: installing the distribution's by apt-get (about a minute, once)", flush=True)
    # A refresh that fails is no end: the lists that are here may do.
    answer = _run([apt_get, "update", "-q"], environ)
    for package in JAVA_PACKAGES:
        answer = _run([apt_get, "install", "-q", "-y", "--no-install-recommends", package], environ)
        if answer.returncode == 0:
            print(f"Java: {package} is installed", flush=True)
            return
    last = " ".join(answer.stdout.split())[-400:]
    raise SetupFailed(f"apt-get could not install Java ({last}): install Java 17 or later by hand.")


def _run(command: list[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    quiet = {**environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def ensure_environment(folder: Path, lock: Path) -> None:
    """Does nothing, fast, when the environment was filled from this very lock; made anew after an interruption."""
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    python, stamp = folder / "bin" / "python", folder / "installed-lock"
    filled_from = stamp.read_text().strip() if stamp.is_file() else ""
    runs = python.exists() and subprocess.call([python, "-c", ""]) == 0
    if runs and filled_from == digest:
        return
    if not runs or filled_from == UNFINISHED:
        print(f"Making a Python environment in {folder.name}", flush=True)
        if subprocess.call([sys.executable, "-m", "venv", "--clear", "--symlinks", folder]) != 0:
            raise SetupFailed(
                "This Python can make no environment: install its venv package, for example by "
                "'sudo apt-get install python3-venv'."
            )
    stamp.write_text(UNFINISHED)
    print("Installing the locked packages (some minutes, once: PySpark alone is 450 MB)", flush=True)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as builders:
        builders.write("".join(BUILDERS.findall(lock.read_text())))
        builders.flush()
        _install(python, builders.name)
    _install(python, str(lock))
    stamp.write_text(digest)
    print("All packages are installed", flush=True)


def _install(python: Path, requirements: str) -> None:
    # The lock names every package: nothing is left to resolve, and builders come from it too, so no isolation.
    options = ["--require-hashes", "--no-deps", "--no-build-isolation", "--no-input", "--disable-pip-version-check"]
    if subprocess.call([python, "-m", "pip", "install", *options, "--requirement", requirements]) != 0:
        raise SetupFailed(
            "pip could not install the locked packages, for the reason above. Where nothing answered, connect this "
            "machine to the network once, or tell pip where its packages are (pip's own configuration is honoured)."
        )


def main(root: Path) -> None:
    # Stands in for the package `dashboard`, whose own __init__ wants Celery, which is not installed yet.
    package = types.ModuleType("dashboard")
    package.__path__ = [str(root / "dashboard")]
    sys.modules["dashboard"] = package
    try:
        ensure_java(os.environ, may_install=os.geteuid() == 0)
        lock = root / "requirements.lock"
        # Held on the lock file itself: of two that start at once, one installs and the other waits.
        with lock.open() as only_one:
            fcntl.flock(only_one, fcntl.LOCK_EX)
            ensure_environment(root / ".venv", lock)
    except SetupFailed as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        print("Interrupted: the next start goes on from here.", file=sys.stderr, flush=True)
        sys.exit(130)


if __name__ == "__main__":
    if sys.version_info < WANTED:
        hand_over()
    main(Path(__file__).resolve().parent.parent)
