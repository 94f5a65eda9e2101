"""Which tests run once more on PostgreSQL."""

import json
import re
from pathlib import Path

import pytest

from tests.plugins.postgres import FOLDERS, REPEATED, SHOWN
from tests.plugins.statements import FOLDER as STATEMENTS
from tests.walk.losses import OTHER_STATEMENTS, WORLDS

ROOT = Path(__file__).resolve().parents[2]

FILE = """
import pytest

@pytest.mark.django_db
def test_asks_a_database(): pass

@pytest.mark.django_db
@pytest.mark.either_database({reason})
def test_is_asked_elsewhere(): pass

def test_asks_none(): pass
"""
RUN = ["-p", "tests.plugins.postgres", "-p", "no:django", "-p", "no:randomly", "-p", "no:cacheprovider", "-q"]


@pytest.fixture
def files(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv(STATEMENTS, raising=False)
    pytester.makeini("[pytest]\nmarkers =\n    django_db: a database\n    either_database: asked elsewhere\n")
    return pytester


def test_those_that_ask_a_database_and_do_not_say_that_another_test_asks_the_same(files: pytest.Pytester) -> None:
    files.makepyfile(test_a=FILE.format(reason="'tests/walk asks for the same pages'"))
    files.runpytest_inprocess(*RUN, "--database-tests").assert_outcomes(passed=1, deselected=2)


def test_elsewhere_all_of_them_run(files: pytest.Pytester) -> None:
    files.makepyfile(test_a=FILE.format(reason="'tests/walk asks for the same pages'"))
    files.runpytest_inprocess(*RUN).assert_outcomes(passed=3)


def test_one_that_does_not_say_which_other_test_asks_is_refused(files: pytest.Pytester) -> None:
    files.makepyfile(test_a=FILE.format(reason=""))
    result = files.runpytest_inprocess(*RUN, "--database-tests")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_a.py::test_is_asked_elsewhere*name the tests*"])


def test_those_of_a_folder_whose_tests_ask_the_same_as_others_do_not(files: pytest.Pytester) -> None:
    folder = files.mkdir("tests").joinpath("dashboard", "pages")
    folder.mkdir(parents=True)
    (folder / "test_b.py").write_text("raise RuntimeError('This file was read.')")
    files.makepyfile(test_a=FILE.format(reason="'another'"))
    files.runpytest_inprocess(*RUN, "--database-tests").assert_outcomes(passed=1, deselected=2)


def test_one_of_them_that_has_the_mark_of_postgresql_does(files: pytest.Pytester) -> None:
    files.makeini("[pytest]\nmarkers =\n    postgres: a server\n    django_db: a database\n")
    folder = files.mkdir("tests").joinpath("dashboard", "pages")
    folder.mkdir(parents=True)
    marked = "@pytest.mark.postgres\ndef test_it(): pass\n\n@pytest.mark.django_db\ndef test_other(): pass\n"
    (folder / "test_b.py").write_text(f"import pytest\n\n{marked}")
    files.runpytest_inprocess(*RUN, "--database-tests").assert_outcomes(passed=1, deselected=1)


def test_a_file_of_such_a_folder_that_is_about_the_database_does(files: pytest.Pytester) -> None:
    file = files.path / next(iter(REPEATED))
    file.parent.mkdir(parents=True)
    file.write_text(FILE.format(reason="'another'"))
    files.runpytest_inprocess(*RUN, "--database-tests").assert_outcomes(passed=1, deselected=2)


TESTS = """
import pytest

@pytest.mark.django_db
def test_sends_one_statement(): pass

@pytest.mark.django_db
def test_sends_two(): pass

@pytest.mark.django_db
def test_is_new(): pass

@pytest.mark.django_db
@pytest.mark.either_database('another')
def test_is_asked_elsewhere(): pass

def test_asks_none(): pass
"""


def recorded(files: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, **sent: list[int]) -> None:
    lines = [json.dumps([f"test_a.py::{name}", 1.0, statements, False]) for name, statements in sent.items()]
    (files.path / "gw0.statements").write_text("\n".join(lines))
    monkeypatch.setenv(STATEMENTS, str(files.path))


def test_where_statements_are_recorded_those_that_send_all_of_them_and_those_of_which_nothing_is_known(
    files: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(files, monkeypatch, test_sends_one_statement=[1], test_sends_two=[1, 2])
    files.makepyfile(test_a=TESTS)
    result = files.runpytest_inprocess(*RUN, "--database-tests", "-vv")
    result.assert_outcomes(passed=2, deselected=3)
    result.stdout.fnmatch_lines_random(["*test_sends_two*", "*test_is_new*"])


def test_a_file_none_of_whose_tests_is_chosen_is_not_read(
    files: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(files, monkeypatch, test_sends_one_statement=[1], test_sends_two=[1, 2])
    with (files.path / "gw1.statements").open("w") as more:
        print(json.dumps(["test_b.py::test_it", 1.0, [1], False]), file=more)
    files.makepyfile(test_a=TESTS, test_b="raise RuntimeError('This file was read.')")
    files.runpytest_inprocess(*RUN, "--database-tests").assert_outcomes(passed=2, deselected=3)


def test_every_folder_is_there() -> None:
    assert [folder for folder in (*FOLDERS, *REPEATED) if not (ROOT / folder).exists()] == []
    assert [pattern for pattern in SHOWN if not any(ROOT.glob(pattern))] == []


def test_every_world_that_is_walked_on_both_is_there() -> None:
    assert WORLDS.keys() > OTHER_STATEMENTS


def test_what_is_only_shown_asks_the_database_for_rows_by_their_keys() -> None:
    """Whatever two databases may answer differently is asked by queries, whose tests run on both."""
    asks = re.compile(
        r"\.(?:annotate|aggregate|alias|extra|raw|union|distinct|in_bulk|bulk_\w+|cursor)\("
        r"|\b(?:F|Q|Func|Subquery|Exists|Window|RawSQL)\("
        r"|__(?:i?contains|i?regex|has_key\w*|search)\b"
    )
    sources = {path for pattern in SHOWN for path in ROOT.glob(pattern)}
    found = [f"{path.relative_to(ROOT)}: {match[0]}" for path in sources for match in asks.finditer(path.read_text())]
    assert len(sources) > 60
    assert found == []
