"""Which tests are enough to send every statement to another database."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError, connection, transaction

from tests.plugins.statements import FOLDER, Recorder, Selection, Sent, chosen, kind, read, selection, shape

A, B, C = 1, 2, 3


def sent(*statements: int, seconds: float = 1.0, always: bool = False) -> Sent:
    return Sent(seconds, frozenset(statements), always)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT 1 FROM a WHERE id IN (%s, %s, %s)", "SELECT 2 FROM a WHERE id IN (%s, %s)"),
        ("INSERT INTO a (b, c) VALUES (%s, %s), (%s, %s)", "INSERT INTO a (b, c) VALUES (%s, %s), (%s, %s), (%s, %s)"),
        ("SELECT a FROM b\n  LIMIT 21", "SELECT a FROM b LIMIT 5"),
        ("SELECT 'x' AS a", "SELECT 'it''s y' AS a"),
        ('SAVEPOINT "s1_x2"', 'SAVEPOINT "s3_x4"'),
    ],
)
def test_values_rows_and_names_of_savepoints_are_no_part_of_a_shape(one: str, other: str) -> None:
    assert shape(one) == shape(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM b ORDER BY a", "SELECT a FROM b ORDER BY a DESC"),
        ("SELECT a FROM b WHERE c = %s", "SELECT a FROM b WHERE c > %s"),
        ("SELECT a FROM b WHERE c1 = %s", "SELECT a FROM b WHERE c2 = %s"),
        ("INSERT INTO a (b) VALUES (%s)", "INSERT INTO a (b) VALUES (%s) ON CONFLICT DO NOTHING"),
        ("SELECT a FROM b", "SELECT a FROM b LIMIT 1"),
    ],
)
def test_all_else_is(one: str, other: str) -> None:
    assert shape(one) != shape(other)


def test_a_value_that_a_column_may_refuse_is_of_a_kind_of_its_own() -> None:
    values = [None, True, 1, 2**31, 2**63, "a", "a" * 256, "a\0", 1.0]
    assert len({kind(value) for value in values}) == len(values)
    assert kind(1) == kind(-5)
    assert kind("a") == kind("b" * 255)


def test_every_statement_is_sent() -> None:
    tests = {"a": sent(A, B), "b": sent(B), "c": sent(C), "d": sent(A, C)}
    names = chosen(tests)
    assert {statement for name in names for statement in tests[name].statements} == {A, B, C}
    assert len(names) < len(tests)


def test_by_the_test_that_takes_the_least_time_for_it() -> None:
    assert chosen({"slow": sent(A, B, seconds=9.0), "quick": sent(A, B, seconds=0.1)}) == {"quick"}


def test_and_by_those_that_always_run() -> None:
    assert chosen({"locks": sent(A, B, seconds=9.0, always=True), "quick": sent(A, B, seconds=0.1)}) == {"locks"}


def test_a_test_that_was_not_recorded_runs() -> None:
    selected = Selection({"a.py::test_a": sent(A), "b.py::test_b": sent(A, B)})
    assert [selected.has(test) for test in ("a.py::test_a", "b.py::test_b", "b.py::test_c")] == [False, True, True]
    assert [selected.has_some_of(file) for file in ("a.py", "b.py", "c.py")] == [False, True, True]


def test_without_a_record_nothing_is_selected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert selection() is None


def an_item(*marks: pytest.Mark, name: str = "a.py::test_a") -> Any:
    def iter_markers(named: str) -> list[pytest.Mark]:
        return [mark for mark in marks if mark.name == named]

    return SimpleNamespace(nodeid=name, iter_markers=iter_markers, fixturenames=())


DATABASE = pytest.mark.django_db.mark
ELSEWHERE = pytest.mark.either_database("others ask the same").mark
COMMITTED = pytest.mark.django_db(transaction=True).mark


def test_what_a_test_sent_is_read_again(tmp_path: Path) -> None:
    with (tmp_path / "gw0.statements").open("w") as output:
        recorder = Recorder(output)
        recorder.statements = {A, B}
        recorder.write(an_item(DATABASE), 1.5)
        recorder.statements = {C}
        recorder.write(an_item(COMMITTED, name="a.py::test_b"), 2.5)
    assert read(tmp_path) == {
        "a.py::test_a": sent(A, B, seconds=1.5),
        "a.py::test_b": sent(C, seconds=2.5, always=True),
    }


@pytest.mark.parametrize(
    ("marks", "lines"), [((DATABASE,), [["a.py::test_a", 1.0, [], True]]), ((), []), ((DATABASE, ELSEWHERE), [])]
)
def test_one_that_sends_none_itself_always_runs_where_it_uses_the_database(marks: Any, lines: list[Any]) -> None:
    output = io.StringIO()
    Recorder(output).write(an_item(*marks), 1.0)
    assert [json.loads(line) for line in output.getvalue().splitlines()] == lines


@pytest.fixture
def recorder() -> Any:
    recorder = Recorder(io.StringIO())
    with connection.execute_wrapper(recorder):
        yield recorder


@pytest.mark.django_db
def test_a_statement_is_another_where_it_fails(recorder: Recorder) -> None:
    for name in ("first", "second"):
        Group.objects.create(name=name)
    assert len(recorder.statements) == 1
    with pytest.raises(DatabaseError), transaction.atomic():
        Group.objects.create(name="first")
    # A savepoint, the statement that fails, the way back to the savepoint, and its release.
    assert len(recorder.statements) == 5


@pytest.mark.django_db
def test_a_statement_is_another_where_other_code_sends_it(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    for own in ((), (__file__,), (__file__,)):
        monkeypatch.setattr("tests.plugins.statements.OWN_CODE", own)
        list(Group.objects.all())
    assert len(recorder.statements) == 2


@pytest.mark.django_db
def test_rows_of_one_statement_count_with_the_kinds_of_all_their_values(recorder: Recorder) -> None:
    with connection.cursor() as cursor:
        for number in (2, 3, 2**40):
            cursor.executemany(
                "UPDATE auth_group SET name = 'a' WHERE id = %s", iter([(1_000_000,), (1_000_000 * number,)])
            )
    assert len(recorder.statements) == 2
