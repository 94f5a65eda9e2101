"""The contracts of the import linter hold here, and would not hold for a room that looks the wrong way."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
ROOMS = (
    "urls",
    "admin",
    "offsets",
    "clusters",
    "tasks",
    "management",
    "messages",
    "resets",
    "dead_letters",
    "alerts",
    "overview",
    "search",
    "topics",
    "clients",
    "groups",
    "findings",
    "retries",
    "ownership",
    "rebalances",
    "repeats",
    "logs",
    "rest",
    "jobs",
    "clock",
    "queries",
    "words",
    "pipeline",
    "polling",
    "models",
    "lake",
    "stores",
    "rocketmq",
    "vocabulary",
)


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", LINT], cwd=root, capture_output=True, text=True, check=False)


def test_every_import_follows_the_way_of_the_data() -> None:
    answer = lint(ROOT)
    assert answer.returncode == 0, answer.stdout


WRONG = [
    ("polling", "consumers.pipeline"),
    ("pipeline", "consumers.queries"),
    ("queries", "consumers.groups"),
    ("queries", "consumers.rest"),
    ("rest", "consumers.groups"),
    ("rebalances", "consumers.ownership"),
    ("logs", "consumers.rebalances"),
    ("logs.parse", "django.db"),
    ("ownership", "consumers.retries"),
    ("retries", "consumers.groups"),
    ("findings", "consumers.groups"),
    ("groups", "consumers.alerts"),
    ("groups", "consumers.dead_letters"),
    ("dead_letters", "consumers.messages"),
    ("jobs", "consumers.resets"),
    ("clock", "consumers.tasks"),
    ("resets", "consumers.tasks"),
    ("dead_letters", "consumers.tasks"),
    ("groups", "consumers.urls"),
    ("urls", "consumers.admin"),
    ("models", "consumers.lake"),
    ("lake", "dashboard"),
    ("rocketmq", "django.conf"),
    ("rocketmq", "consumers.models"),
    ("stores", "django.db"),
    ("stores", "consumers.lake"),
    ("vocabulary", "django.db"),
    ("words", "consumers.models"),
    ("pipeline.kernel", "pyspark.sql"),
    ("pipeline.rules", "django.db"),
]
# Folders within a room that have a contract of their own.
WITHIN = ("logs/parse", "pipeline/kernel", "pipeline/rules", "pipeline/bucket")


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of the same contracts about rooms that hold nothing but wrong imports, and one room that they do not know."""
    root = tmp_path_factory.mktemp("rooms")
    shutil.copy(ROOT / "pyproject.toml", root)
    for package in ("dashboard", "consumers", *(f"consumers/{room}" for room in (*ROOMS, *WITHIN))):
        (root / package).mkdir()
        (root / package / "__init__.py").touch()
    for number, (room, imported) in enumerate(WRONG):
        (root / "consumers" / room.replace(".", "/") / f"wrong_{number}.py").write_text(f"import {imported}\n")
    return lint(root).stdout


@pytest.mark.parametrize(("room", "imported"), WRONG)
def test_it_sees_a_room_that_looks_the_wrong_way(complaints: str, room: str, imported: str) -> None:
    # A package from outside is known by its top alone.
    seen = imported if imported.startswith("consumers") else imported.split(".")[0]
    assert f"consumers.{room}.wrong_{WRONG.index((room, imported))} -> {seen}" in complaints


def test_it_sees_a_room_that_no_contract_knows(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("dashboard", "consumers", *(f"consumers/{room}" for room in (*ROOMS, *WITHIN, "cellar"))):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    assert "cellar" in lint(tmp_path).stdout
