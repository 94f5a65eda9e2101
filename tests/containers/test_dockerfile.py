import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.containers.compose import ROOT, own_services

DOCKERFILE = (ROOT / "Dockerfile").read_text()
INSTRUCTIONS = [line.split(maxsplit=1) for line in DOCKERFILE.replace("\\\n", " ").splitlines() if line[:1].isupper()]


def arguments(name: str) -> list[str]:
    return [rest for instruction, rest in INSTRUCTIONS if instruction == name]


@pytest.mark.parametrize("copied", arguments("COPY"))
def test_it_copies_only_what_is_there_and_sent(copied: str) -> None:
    *sources, _ = copied.split()
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for source in sources:
        assert (ROOT / source).exists()
        assert source.split("/")[0] in sent


def test_it_does_not_run_as_root() -> None:
    names = [name for name, _ in INSTRUCTIONS]
    assert arguments("USER") == ["consumerscope"]
    assert names.index("USER") < names.index("CMD")
    assert "RUN" not in names[names.index("USER") :]


def test_it_copies_what_the_set_up_imports_before_it_runs_it(tmp_path: Path) -> None:
    """The set-up, beside nothing but what is copied for it, gets as far as to look for Java."""
    before = INSTRUCTIONS[: INSTRUCTIONS.index(["RUN", "python dashboard/setup.py && rm -rf /var/lib/apt/lists/*"])]
    for instruction, rest in before:
        if instruction == "COPY":
            *sources, target = rest.split()
            (tmp_path / target).mkdir(parents=True, exist_ok=True)
            for source in sources:
                shutil.copy(ROOT / source, tmp_path / target)
    command = [sys.executable, "-I", "-S", tmp_path / "dashboard" / "setup.py"]
    answer = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert answer.stderr.startswith("Java is missing")


def test_it_runs_the_pages_as_the_web_service_does() -> None:
    assert json.loads(arguments("CMD")[0]) == own_services()["web"]["command"]


def test_its_base_has_the_python_that_the_lock_was_made_for() -> None:
    assert arguments("FROM") == ["python:3.11-slim-bookworm"]
    assert "--python-version 3.11" in (ROOT / "Makefile").read_text()
