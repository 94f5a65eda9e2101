import json
import re

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


def test_it_copies_what_the_set_up_imports_before_it_runs_it() -> None:
    text = "".join(path.read_text() for path in (ROOT / "dashboard" / "setup").glob("*.py"))
    before = DOCKERFILE[: DOCKERFILE.index("RUN python dashboard/setup")]
    for module in re.findall(r"^from dashboard\.((?!setup)[a-z.]+) import", text, re.MULTILINE):
        assert f"dashboard/{module.replace('.', '/')}.py" in before


def test_it_runs_the_pages_as_the_web_service_does() -> None:
    assert json.loads(arguments("CMD")[0]) == own_services()["web"]["command"]


def test_its_base_has_the_python_that_the_lock_was_made_for() -> None:
    assert arguments("FROM") == ["python:3.11-slim-bookworm"]
    assert "--python-version 3.11" in (ROOT / "Makefile").read_text()
