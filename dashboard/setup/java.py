"""Java 17 or later: the one of this machine, else the distribution's, where that may be installed."""

import shutil
import subprocess
from collections.abc import Callable, Mapping

from dashboard.demo.java import LEAST_MAJOR, JavaNotFound, find_java

from .trouble import SetupFailed

# A distribution has one or two of these. Its default comes last: on older ones it is older than 17.
PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless", "openjdk-25-jre-headless", "default-jre-headless")
KEPT_CHARACTERS = 400

Say = Callable[[str], None]


def ensure_java(environ: Mapping[str, str], say: Say, *, may_install: bool) -> None:
    """Raises SetupFailed where Java is too old, or missing where this user may not install it."""
    if not environ.get("JAVA_HOME") and shutil.which("java", path=environ.get("PATH")) is None:
        apt_get = shutil.which("apt-get", path=environ.get("PATH"))
        if apt_get is None or not may_install:
            raise SetupFailed(
                f"Java is missing: install Java {LEAST_MAJOR} or later, for example by "
                f"'sudo apt-get install {PACKAGES[0]}', or point JAVA_HOME at one."
            )
        _install(apt_get, environ, say)
    try:
        find_java(environ)
    except JavaNotFound as failure:
        raise SetupFailed(str(failure)) from failure


def _install(apt_get: str, environ: Mapping[str, str], say: Say) -> None:
    quiet = {**environ, "DEBIAN_FRONTEND": "noninteractive"}
    say("Java is missing: installing the distribution's by apt-get (about a minute, once)")
    # A refresh that fails is no end: the lists that are here may do.
    answer = _apt([apt_get, "update", "-q"], quiet)
    for package in PACKAGES:
        answer = _apt([apt_get, "install", "-q", "-y", "--no-install-recommends", package], quiet)
        if answer.returncode == 0:
            say(f"Java: {package} is installed")
            return
    last = " ".join(answer.stdout.split())[-KEPT_CHARACTERS:]
    raise SetupFailed(f"apt-get could not install Java ({last}): install Java {LEAST_MAJOR} or later by hand.")


def _apt(command: list[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=dict(environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
