"""The environment in .venv: made once, whole or marked as unfinished, and known by the lock that filled it."""

import subprocess
import tempfile
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from venv import EnvBuilder

from . import lock_file
from .pip import install
from .trouble import SetupFailed

Say = Callable[[str], None]


class Need(Enum):
    NOTHING = "it was filled from this lock"
    FILL = "another lock, or none, filled it"
    MAKE = "it is not there, cannot run, or was interrupted"


class Environment:
    def __init__(self, folder: Path, lock: Path) -> None:
        self.python = folder / "bin" / "python"
        self._folder = folder
        self._lock = lock
        self._stamp = folder / "installed-lock"
        self._unfinished = folder / "unfinished"

    def ensure(self, say: Say) -> None:
        """Does nothing, fast, when the environment was filled from this very lock."""
        digest = lock_file.digest(self._lock)
        need = self.need(digest)
        if need is Need.NOTHING:
            return
        if need is Need.MAKE:
            self._make(say)
        self._unfinished.touch()
        self._stamp.unlink(missing_ok=True)
        self._fill(say)
        self._stamp.write_text(f"{digest}\n")
        self._unfinished.unlink()

    def need(self, digest: str) -> Need:
        if self._unfinished.exists() or not self._python_runs():
            return Need.MAKE
        filled_from = self._stamp.read_text().strip() if self._stamp.is_file() else None
        return Need.NOTHING if filled_from == digest else Need.FILL

    def _python_runs(self) -> bool:
        """False also where the Python that the environment was made from is gone."""
        try:
            return subprocess.run([self.python, "-c", ""], check=False).returncode == 0
        except OSError:
            return False

    def _make(self, say: Say) -> None:
        say(f"Making a Python environment in {self._folder.name}")
        try:
            EnvBuilder(clear=True, with_pip=True, symlinks=True).create(self._folder)
        except (subprocess.CalledProcessError, ImportError) as failure:
            raise SetupFailed(
                f"This Python can make no environment ({failure}): install its venv package, "
                "for example by 'sudo apt-get install python3-venv'."
            ) from failure

    def _fill(self, say: Say) -> None:
        text = self._lock.read_text()
        say(f"Installing {lock_file.count(text)} locked packages (some minutes, once: PySpark alone is 450 MB)")
        builders = lock_file.builders(text)
        if builders:
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
                requirements.write(builders)
                requirements.flush()
                install(self.python, Path(requirements.name), lock_file.count(builders), lambda line: None)
        install(self.python, self._lock, lock_file.count(text), say)
        say("All packages are installed")
