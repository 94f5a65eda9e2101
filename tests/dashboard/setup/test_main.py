import ast
import subprocess
import sys
from pathlib import Path

SETUP = Path(__file__).resolve().parents[3] / "dashboard" / "setup.py"
# The program itself, by a Python that takes itself for an older one.
AS_IF_OLD = f"""
import collections, runpy, sys
sys.version_info = (3, 8, 18, "final", 0)
runpy.run_path({str(SETUP)!r}, run_name="__main__")
"""


def test_it_can_be_read_by_an_old_python() -> None:
    assert ast.parse(SETUP.read_text(), feature_version=(3, 8))


def test_it_says_that_python_is_too_old_where_no_other_is_on_path(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", AS_IF_OLD], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("Python 3.8 is too old: install Python 3.11 or later")


def test_it_hands_over_to_a_newer_python_on_path(tmp_path: Path) -> None:
    newer = tmp_path / "python3.12"
    newer.write_text('#!/bin/sh\n[ "$1" = -c ] || echo "handed over to $1"\n')
    newer.chmod(0o755)
    answer = subprocess.run(
        [sys.executable, "-c", AS_IF_OLD], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert answer.stdout == f"handed over to {SETUP}\n"


def test_it_imports_only_what_python_brings(tmp_path: Path) -> None:
    """Nothing is installed when it runs. -S hides what is installed here, an empty PATH the Java of this machine."""
    answer = subprocess.run(
        [sys.executable, "-I", "-S", SETUP], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("Java is missing: install Java 17 or later")
