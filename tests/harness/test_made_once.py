"""Rows that a module makes once: which tests may stand beside them."""

import pytest

FILE = """
import pytest

@pytest.fixture(scope="module")
def rows(made_once): ...

@pytest.mark.django_db
def test_shares_them(rows): ...

def test_asks_no_database(): ...

{another}
"""
RUN = ["-p", "tests.plugins.made_once", "-p", "no:django", "-p", "no:randomly", "-p", "no:cacheprovider", "-q"]


@pytest.fixture
def files(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nmarkers =\n    django_db: a database\n")
    return pytester


def collected(files: pytest.Pytester, another: str) -> pytest.RunResult:
    files.makepyfile(test_a=FILE.format(another=another))
    return files.runpytest_inprocess(*RUN, "--collect-only")


def test_one_that_shares_them_and_one_that_asks_no_database(files: pytest.Pytester) -> None:
    assert collected(files, "").ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    ("another", "complaint"),
    [
        ("@pytest.mark.django_db\ndef test_b(): ...", "uses the database and not the rows that its module shares"),
        ("def test_b(rows, transactional_db): ...", "empties the database that its module shares"),
        ("@pytest.mark.django_db(transaction=True)\ndef test_b(rows): ...", "empties the database"),
    ],
)
def test_no_other_that_uses_the_database(files: pytest.Pytester, another: str, complaint: str) -> None:
    result = collected(files, another)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*test_a.py::test_b {complaint}*"])
