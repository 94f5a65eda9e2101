"""Which tests run once more on PostgreSQL."""

import pytest

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
def files(pytester: pytest.Pytester) -> pytest.Pytester:
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
