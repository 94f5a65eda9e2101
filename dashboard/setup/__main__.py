"""`python3 dashboard/setup`, by any Python from 3.8 on: one that is too old hands over to a newer one or says so."""

import os
import shutil
import subprocess
import sys
import types

WANTED = (3, 11)
# Without venv and ensurepip no environment can be made: Debian keeps them in a package of their own.
TRIAL = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"


def hand_over():
    # type: () -> None
    """Becomes a newer Python, found on PATH by its name. Returns where there is none."""
    for name in ("python3.13", "python3.12", "python3.11"):
        path = shutil.which(name)
        if path and subprocess.call([path, "-c", TRIAL], stderr=subprocess.DEVNULL) == 0:
            os.execv(path, [path, os.path.dirname(os.path.abspath(__file__))])
    sys.exit(
        f"Python {sys.version_info[0]}.{sys.version_info[1]} is too old: install Python {WANTED[0]}.{WANTED[1]} or "
        "later, or name one: make PYTHON=/path/to/python3 …"
    )


def main():
    # type: () -> None
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # Stands in for the package `dashboard`, whose own __init__ wants Celery, which is not installed yet.
    package = types.ModuleType("dashboard")
    package.__path__ = [os.path.join(root, "dashboard")]
    sys.modules["dashboard"] = package
    from dashboard.setup.program import run

    sys.exit(run(root))


if __name__ == "__main__":
    if sys.version_info < WANTED:
        hand_over()
    main()
