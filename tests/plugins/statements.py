"""Records which statements each test sends to the database, and chooses few tests that together send all of them.

Two statements are the same where their text, the kinds of their values, the line of the project that sends them and
their error are the same. The tiers that use SQLite record them; the tier of PostgreSQL runs the chosen tests once more.
"""

import hashlib
import heapq
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import pytest

from tests.plugins.uses_database import commits, uses_database

# The folder where the tiers of one run keep what their tests sent.
FOLDER = "CONSUMERSCOPE_TESTS_STATEMENTS"
RECORDER = pytest.StashKey["Recorder"]()
# What a test takes at least, as setting it up does.
LEAST_SECONDS = 0.05
ROOT = Path(__file__).resolve().parents[2]
# Where a statement is sent from: the nearest line of the project's own code.
OWN_CODE = tuple(f"{ROOT / package}{os.sep}" for package in ("consumers", "dashboard"))
# PostgreSQL refuses numbers and texts that do not fit a column, where SQLite takes them.
LARGEST_INTEGER, LARGEST_BIG_INTEGER = 2**31 - 1, 2**63 - 1
LONGEST_TEXT = 255


@dataclass(frozen=True)
class Sent:
    """What one test sent, and how long a processor worked for it.

    `always`: what it asks of a database is more than its statements: what others see of them, or what another process
    sent, where it sent none itself.
    """

    seconds: float
    statements: frozenset[int]
    always: bool = False


@lru_cache(maxsize=100_000)
def shape(sql: str) -> str:
    """The text of a statement without its values, so that two rows are written as one is."""
    text = re.sub(r"'(?:[^']|'')*'|%s|\b\d+\b", "?", re.sub(r"\s+", " ", sql))
    text = re.sub(r"\?(?:, \?)+", "?, …", text)
    text = re.sub(r"(\([^()]*\))(?:, \([^()]*\))+", r"\1, …", text)
    # Django makes up the names of savepoints.
    return text.split()[0] if text.startswith(("SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT")) else text


def kind(value: object) -> str:
    """The type of a value, and whether it may be too large for a column of that type."""
    if isinstance(value, str):
        return ("str" if len(value) <= LONGEST_TEXT else "text") + (" with NUL" if "\0" in value else "")
    if isinstance(value, int) and not isinstance(value, bool):
        size = abs(value)
        return "int" if size <= LARGEST_INTEGER else "bigint" if size <= LARGEST_BIG_INTEGER else "larger"
    return type(value).__name__


def values_of(row: Any) -> Iterable[object]:
    return row.values() if isinstance(row, Mapping) else row or ()


def sender() -> str:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(OWN_CODE):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


@lru_cache(maxsize=100_000)
def number_of(*statement: object) -> int:
    """The same in every process, and short."""
    return int.from_bytes(hashlib.blake2b(repr(statement).encode(), digest_size=7).digest())


@dataclass
class Recorder:
    """Collects the statements of the test that runs; several threads may send some at once."""

    output: TextIO
    statements: set[int] = field(default_factory=set)

    def on_connection(self, connection: Any, **_: object) -> None:
        connection.execute_wrappers.append(self)

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        error = ""
        rows = list(params) if many else [params]
        try:
            return execute(sql, rows if many else params, many, context)
        except Exception as raised:
            error = type(raised).__name__
            raise
        finally:
            kinds = frozenset(kind(value) for row in rows for value in values_of(row))
            self.statements.add(number_of(shape(sql), kinds, sender(), error))

    def write(self, item: pytest.Item, seconds: float) -> None:
        is_asked_elsewhere = any(item.iter_markers("either_database"))
        if not is_asked_elsewhere and (self.statements or uses_database(item)):
            always = commits(item) or not self.statements
            line = json.dumps([item.nodeid, seconds, sorted(self.statements), always])
            print(line, file=self.output, flush=True)
        self.statements = set()


def pytest_configure(config: pytest.Config) -> None:
    folder = os.environ.get(FOLDER)
    if folder is None or config.getoption("--database-tests"):
        return
    from django.db.backends.signals import connection_created

    name = f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}-{os.getpid()}"
    recorder = Recorder((Path(folder) / f"{name}.statements").open("w"))
    connection_created.connect(recorder.on_connection, weak=False)
    config.stash[RECORDER] = recorder


def pytest_unconfigure(config: pytest.Config) -> None:
    if RECORDER in config.stash:
        config.stash[RECORDER].output.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """With its fixtures: a test that shares the rows of its module makes them where it runs without the others."""
    begun = time.process_time()
    result = yield
    if RECORDER in item.config.stash:
        item.config.stash[RECORDER].write(item, time.process_time() - begun)
    return result


def read(folder: Path) -> dict[str, Sent]:
    """By the name of the test, of all tests that ran; empty where none of them was written down."""
    found = {}
    for file in sorted(folder.glob("*.statements")):
        for line in file.read_text().splitlines():
            test, seconds, statements, always = json.loads(line)
            found[test] = Sent(seconds, frozenset(statements), always)
    return found


class Selection:
    """The chosen tests of those that were recorded. A test that was not recorded runs: what it sends is unknown."""

    def __init__(self, sent: Mapping[str, Sent]) -> None:
        self._recorded = sent.keys()
        self._chosen = chosen(sent)
        self._recorded_files, self._files = files_of(self._recorded), files_of(self._chosen)

    def has(self, test: str) -> bool:
        return test in self._chosen or test not in self._recorded

    def has_some_of(self, file: str) -> bool:
        return file in self._files or file not in self._recorded_files


def selection() -> Selection | None:
    """None where no other tier of this run has recorded anything."""
    folder = os.environ.get(FOLDER)
    sent = read(Path(folder)) if folder else {}
    return Selection(sent) if sent else None


def files_of(tests: Iterable[str]) -> set[str]:
    return {test.partition("::")[0] for test in tests}


def chosen(sent: Mapping[str, Sent]) -> set[str]:
    """Tests that send every statement: those that always run, then each time the one with most others for its time."""
    names = {test for test, one in sent.items() if one.always}
    left = {statement for one in sent.values() for statement in one.statements}
    left.difference_update(*(sent[test].statements for test in names))
    waiting = [(-len(one.statements) / (one.seconds + LEAST_SECONDS), test) for test, one in sent.items()]
    heapq.heapify(waiting)
    while left:
        _, test = heapq.heappop(waiting)
        value = -len(sent[test].statements & left) / (sent[test].seconds + LEAST_SECONDS)
        if waiting and value > waiting[0][0]:
            # Others have sent some of its statements meanwhile.
            heapq.heappush(waiting, (value, test))
        elif value:
            names.add(test)
            left -= sent[test].statements
    return names
