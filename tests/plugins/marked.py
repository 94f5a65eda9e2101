"""`--marked live`: reads only the files that mention a mark. Ten thousand other tests need not be collected for it.

A run without it reads every file, and refuses a test whose mark no text of its own tells: it would be lost with it.
"""

from functools import cache
from pathlib import Path

import pytest

# The marks that tiers select by.
MARKS = ("spark", "live", "browser", "faults", "postgres")


@cache
def mentions(path: Path, mark: str) -> bool:
    """In the file, or in a conftest.py of its folder or of one above it, which marks what is below."""
    files = [path, *(folder / "conftest.py" for folder in path.parents if (folder / "conftest.py").exists())]
    return any(f"mark.{mark}" in file.read_text() for file in files)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--marked", action="append", default=[], help="only files that mention this mark")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    wanted = config.getoption("--marked")
    if not wanted or not collection_path.match("test_*.py"):
        return None
    return None if all(mentions(collection_path, mark) for mark in wanted) else True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers():
            if mark.name in MARKS and not mentions(item.path, mark.name):
                raise pytest.UsageError(
                    f"{item.nodeid} has the mark {mark.name!r}, which {item.path.name} does not mention: write "
                    f"`pytest.mark.{mark.name}` there, or the tier of that mark does not find it."
                )
