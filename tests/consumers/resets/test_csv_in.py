"""Offsets out of CSV: what is taken, and the sentence for what is not."""

import csv
import io

import pytest
from hypothesis import given, strategies as st

from consumers.resets.offset_csv import OffsetsIn, offsets_in
from consumers.resets.reset_targets import value_of
from consumers.resets.target_values import ValueRefused
from consumers.rest.answers import cell, line_of
from tests.world import NOW

HEAD = "topic,broker,queue_id,offset\n"
ENTRY = {"topic": "Orders", "broker": "broker-a", "queue_id": 0, "offset": 40}


def faults(content):
    with pytest.raises(ValueRefused) as refused:
        offsets_in(content)
    return str(refused.value).split("\n")


@pytest.mark.parametrize(
    "content",
    [
        HEAD + "Orders,broker-a,0,40\n",
        HEAD + "Orders,broker-a,0,40",
        HEAD.replace("\n", "\r\n") + "Orders,broker-a,0,40\r\n",
        HEAD + "\n\nOrders , broker-a, 0 ,40\n,,,\n",
        "\ufeff" + HEAD + "Orders,broker-a,0,40\n",
        (HEAD + "Orders,broker-a,0,40\n").encode(),
        ("\ufeff" + HEAD + "Orders,broker-a,0,40\n").encode(),
        '"topic","broker","queue_id","offset"\n"Orders","broker-a","0","40"\n',
        'max,offset,Queue_ID,note,BROKER,Topic\n100,40,0,"a, ""b""\nc",broker-a,Orders\n',
        "topic;broker;queue_id;offset\nOrders;broker-a;0;40\n",
        "topic\tbroker\tqueue_id\toffset\nOrders\tbroker-a\t0\t40\n",
    ],
)
def test_it_takes_what_spreadsheets_and_people_write(content):
    assert offsets_in(content) == OffsetsIn([ENTRY], 0)


def test_rows_without_an_offset_are_left_out_and_counted():
    assert offsets_in(HEAD + "Orders,broker-a,0,40\nOrders,broker-a,1,\nOrders,broker-a,2, \n") == OffsetsIn([ENTRY], 2)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "The header lacks topic, broker, queue_id, offset. It needs the columns"),
        ("topic,broker,queue_id\n", "The header lacks offset"),
        ("Orders,broker-a,0,40\n", "The header lacks topic"),
        ("topic,broker,queue_id,offset,offset\n", "The header names offset more than once."),
        (HEAD, "No line has an offset"),
        (HEAD + "Orders,broker-a,0,\n", "No line has an offset"),
        (HEAD + "Orders,broker-a,0\n", "Line 2: 3 cells, but the header has 4 columns."),
        (HEAD + ",broker-a,0,1\n", "Line 2: no topic."),
        (HEAD + "Orders,,0,1\n", "Line 2: no broker."),
        (HEAD + "Orders,broker-a,x,1\n", "Line 2: “x” is not a queue id: use a whole number, 0 or more."),
        (HEAD + "Orders,broker-a,-1,1\n", "Line 2: “-1” is not a queue id: use a whole number, 0 or more."),
        (
            HEAD + "Orders,broker-a,2147483648,1\n",
            "Line 2: “2147483648” is not a queue id: use a whole number, 0 or more.",
        ),
        (HEAD + "Orders,broker-a,,1\n", "Line 2: “” is not a queue id: use a whole number, 0 or more."),
        (HEAD + "Orders,broker-a,0,-1\n", "Line 2: “-1” is not an offset: use a whole number, 0 or more."),
        (HEAD + "Orders,broker-a,0,1.5\n", "Line 2: “1.5” is not an offset: use a whole number, 0 or more."),
        (HEAD + "Orders,broker-a,0,1e3\n", "Line 2: “1e3” is not an offset: use a whole number, 0 or more."),
        (HEAD + "Orders,broker-a,0,unknown\n", "Line 2: “unknown” is not an offset: use a whole number, 0 or more."),
        (HEAD + "Orders,broker-a,0,9223372036854775808\n", "Line 2: “9223372036854775808” is not an offset"),
        (HEAD + "Orders,broker-a,0,1\n\nOrders,broker-a,0,2\n", "Line 4: same queue as line 2."),
        (HEAD + "Orders,broker-a,0,\nOrders,broker-a,0,2\n", "Line 3: same queue as line 2."),
        (HEAD + 'Orders,"broker-a,0,1\n', "Line 2 is not valid CSV"),
        (HEAD + 'Orders,broker-a,0,1\nOrders,"b"x,0,1\n', "Line 3 is not valid CSV"),
        (HEAD + 'Orders,broker-a,0,1,"a\nb"\n', "Line 2: 5 cells"),
        ((HEAD + "Bestellungen-ü,broker-a,0,1\n").encode("latin-1"), "Line 2 is not UTF-8"),
        ((HEAD + "Orders,broker-a,0,1\n").encode("utf-16"), "Line 1 is not UTF-8"),
        (HEAD + "Orders\0,broker-a,0,1\n", "Line 2 has a zero byte"),
        ("x" * 10_000_001, "The file is larger than 10000000 bytes"),
    ],
)
def test_a_fault_is_told_with_its_line(content, why):
    (fault,) = faults(content)
    assert fault.startswith(why)


def test_a_line_is_the_one_that_its_row_begins_on():
    rows = 'Orders,broker-a,0,1,"two\nlines"\nOrders,broker-a,1,x,\n'
    (fault,) = faults("topic,broker,queue_id,offset,note\n" + rows)
    assert fault.startswith("Line 4: “x” is not an offset")


def test_ten_faults_are_told_and_the_rest_counted():
    found = faults(HEAD + "Orders,broker-a,0,x\n" * 13)
    assert len(found) == 11
    assert (found[9][:8], found[10]) == ("Line 11:", "3 more lines have errors.")


def test_more_queues_than_a_reset_may_move_are_refused(settings):
    settings.RESET_QUEUES_MAX = 2
    (fault,) = faults(HEAD + "".join(f"Orders,broker-a,{number},1\n" for number in range(4)))
    assert fault == "Line 4: more than 2 queues (RESET_QUEUES_MAX)."


def test_a_long_text_is_cut_in_the_sentence():
    (fault,) = faults(HEAD + f"Orders,broker-a,0,{'9' * 500}\n")
    assert len(fault) < 120


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zs", "Zl", "Zp", "Cs")), min_size=1).filter(
    lambda name: name == name.strip() and not name.startswith("'")
)
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"topic": NAMES, "broker": NAMES, "queue_id": st.integers(0, 2**31 - 1), "offset": st.integers(0, 10**18 - 1)}
    ),
    min_size=1,
    max_size=20,
    unique_by=lambda entry: (entry["topic"], entry["broker"], entry["queue_id"]),
)


@given(ENTRIES, st.permutations(["topic", "broker", "queue_id", "offset", "note"]))
def test_what_was_written_as_cells_is_read_as_it_was(entries, columns):
    lines = [
        line_of(columns),
        *(line_of(cell((entry | {"note": "a,\n;"})[name]) for name in columns) for entry in entries),
    ]
    assert offsets_in("".join(lines)) == OffsetsIn(entries, 0)


@given(ENTRIES)
def test_what_was_read_is_a_value_of_a_reset(entries):
    lines = [
        HEAD,
        *(line_of(cell(entry[name]) for name in ("topic", "broker", "queue_id", "offset")) for entry in entries),
    ]
    assert value_of("offsets", offsets_in("".join(lines)).entries, NOW) == entries


@given(ENTRIES)
def test_another_writer_of_csv_is_understood(entries):
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, list(entries[0]), quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(entries)
    assert offsets_in(written.getvalue().encode()) == OffsetsIn(entries, 0)


@given(st.one_of(st.binary(), st.text(), st.text(alphabet="topic,broker_idfset;\t\"\r\n0123'=-").map(HEAD.__add__)))
def test_whatever_comes_is_taken_or_refused_with_a_sentence(content):
    try:
        found = offsets_in(content)
    except ValueRefused:
        return
    assert found.entries
    assert value_of("offsets", found.entries, NOW) == found.entries
