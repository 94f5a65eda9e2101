"""`consumerOffset.json` as brokers write it, and as people leave it."""

import pytest

from consumers.lake.schemas import STORED_OFFSETS
from consumers.stores.files.problems import read_content
from consumers.stores.files.read_file import broker_rows, broker_rows_at_once
from consumers.stores.files.stored_file import STORED
from tests.consumers.stores.stored_samples import DATA, broker_file, in_words, read, rows, write

ORDERS = [("Orders", n, 3 + 2 * n) for n in range(4)]


def test_a_real_brokers_file_is_read():
    file = read(DATA / "consumerOffset.json")
    assert (file.kind, file.error, file.findings, file.from_backup) == ("broker_file", None, (), False)
    assert rows(file) == [
        ("email", "Payments", 0, 5),
        ("email", "Payments", 1, 6),
        ("billing", "%RETRY%billing", 0, 0),
        ("email", "%RETRY%email", 0, 11),
        *(("billing", *row) for row in ORDERS),
        *(("crowd", *row) for row in ORDERS),
    ]


def test_the_columns_are_the_lakes():
    own = {"cluster", "taken_at"}
    assert list(STORED) == [field for field in STORED_OFFSETS if field.name not in own]
    assert read(DATA / "consumerOffset.json").table().schema == STORED


def test_a_file_without_a_flaw_is_read_at_once():
    body = (DATA / "consumerOffset.json").read_bytes()
    assert broker_rows_at_once(body).equals(broker_rows(read_content(body)).table())


@pytest.mark.parametrize(
    ("table", "row", "sentence"),
    [
        ('"%RETRY%billing":{0:7}', ("billing", "%RETRY%billing", 0, 7), "names no group; billing is inferred"),
        ('"Orders":{0:7}', (None, "Orders", 0, 7), "names no group"),
        ('"%DLQ%billing":{0:7}', (None, "%DLQ%billing", 0, 7), "names no group"),
        ('"Orders\\u0000@g":{0:7}', (None, None, 0, 7), "'Orders\\x00@g': the key has characters"),
        ('"Orders@\\ud800":{0:7}', (None, None, 0, 7), "'Orders@\\ud800': the key has characters"),
        ('"Orders@g":{"\\ud800":7}', ("g", "Orders", None, 7), "the queue id is a text, not a whole number"),
        ('"Orders@g":{0:"\\u0000"}', ("g", "Orders", 0, None), "the offset is a text, not a whole number"),
        ('"@billing":{0:7}', ("billing", None, 0, 7), "names no topic"),
        ('"Orders@":{0:7}', (None, "Orders", 0, 7), "names no group"),
        ('"Orders@a@b":{0:7}', ("a@b", "Orders", 0, 7), "more than one '@'"),
        ("3:{0:7}", (None, None, 0, 7), "not a text of the form topic@group"),
        ('"Orders@g":{0:-1}', ("g", "Orders", 0, -1), "the offset -1 is below zero"),
        ('"Orders@g":{0:1.5}', ("g", "Orders", 0, None), "the offset is a fraction, not a whole number"),
        ('"Orders@g":{0:"7"}', ("g", "Orders", 0, None), "the offset is a text, not a whole number"),
        ('"Orders@g":{0:null}', ("g", "Orders", 0, None), "the offset is nothing (null)"),
        ('"Orders@g":{0:{}}', ("g", "Orders", 0, None), "the offset is a list"),
        ('"Orders@g":{0:true}', ("g", "Orders", 0, None), "the offset is true or false, not a whole number"),
        ('"Orders@g":{0:9223372036854775808}', ("g", "Orders", 0, None), "larger than any can be"),
        ('"Orders@g":{-1:7}', ("g", "Orders", -1, 7), "the queue id -1 is out of range"),
        ('"Orders@g":{2147483648:7}', ("g", "Orders", None, 7), "the queue id 2147483648 is out of range"),
        ('"Orders@g":{"x":7}', ("g", "Orders", None, 7), "the queue id is a text, not a whole number"),
        ('"Orders@g":5', ("g", "Orders", None, None), "holds a whole number where queues with offsets belong"),
        ('"Orders@g":[]', ("g", "Orders", None, None), "holds a list where queues with offsets belong"),
        ('"Orders@g":{0:7,0:9}', ("g", "Orders", 0, 9), "occurs more than once, first with 7"),
        ('"Orders@g":{0:7},"Orders@g":{0:9}', ("g", "Orders", 0, 9), "the key occurs 2 times"),
    ],
)
def test_a_flaw_is_named_with_its_place_and_the_row_is_kept(tmp_path, table, row, sentence):
    file = read(write(tmp_path, broker_file(table)))
    assert rows(file) == [row]
    assert sentence in rows(file, "finding")[0][0]
    assert any(sentence in in_words(finding) and finding.where.startswith("line 4, ") for finding in file.findings)


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ('"Orders@broadcast":{0:7}', ("broadcast", "Orders", 0, 7)),
        ('"Orders@g@broadcast":{0:7}', ("g", "Orders", 0, 7)),
        ('"%RETRY%g@g":{0:7}', ("g", "%RETRY%g", 0, 7)),
        ('"Orders@g":{"0":7}', ("g", "Orders", 0, 7)),
        ('"Orders@g" : {\r\n 0 : 7 }', ("g", "Orders", 0, 7)),
        ('"topic-01@g":{0:10}', ("g", "topic-01", 0, 10)),
    ],
)
def test_what_is_unusual_but_right_has_no_finding(tmp_path, table, row):
    file = read(write(tmp_path, broker_file(table)))
    assert (rows(file), rows(file, "finding"), file.findings) == ([row], [(None,)], ())


def test_a_group_with_offsets_of_both_models_is_told(tmp_path):
    file = read(write(tmp_path, broker_file('"Orders@g":{0:7},"Orders@g@broadcast":{0:9}')))
    assert rows(file, "offset") == [(7,), (9,)]
    assert [finding.name for finding in file.findings] == ["both_models"]


def test_a_row_keeps_every_finding(tmp_path):
    file = read(write(tmp_path, broker_file('"Orders":{-1:-2}')))
    (said,) = rows(file, "finding")[0]
    assert all(words in said for words in ("names no group", "queue id -1", "offset -2"))


def test_the_list_of_a_files_findings_ends_and_says_so(tmp_path):
    queues = ",".join(f"{n}:-1" for n in range(250))
    file = read(write(tmp_path, broker_file(f'"Orders@g":{{{queues}}}')))
    assert (len(file.findings), in_words(file.findings[-1])) == (101, "More findings at their rows: 150.")
    assert all(said for (said,) in rows(file, "finding"))


@pytest.mark.parametrize("number", ["12 34", "12\n34", "- 5", "007", "1_0"])
def test_numbers_are_never_put_together(tmp_path, number):
    file = read(write(tmp_path, broker_file(f'"Orders@g":{{0:{number}}}')))
    assert (file.rows, file.error.name) == (None, "malformed")


def test_a_key_without_queues_is_no_row(tmp_path):
    assert rows(read(write(tmp_path, broker_file('"Orders@g":{}')))) == []


def test_a_row_that_stands_many_times_is_told_of_a_few_times(tmp_path):
    found = read(write(tmp_path, broker_file('"Orders@g":{' + ",".join(["0:-7"] * 1000) + "}")))
    assert 2 <= len(found.findings) <= 11


def test_a_name_with_an_invisible_character_is_told_of_also_where_nothing_else_is_wrong(tmp_path):
    found = read(write(tmp_path, '{"offsetTable":{"Orders@\ufeffg":{0:7}}}'.encode()))
    assert rows(found) == [(None, None, 0, 7)]
    assert "characters that no name has" in in_words(found.findings[0])
