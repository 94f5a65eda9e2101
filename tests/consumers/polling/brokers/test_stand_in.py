"""A slave's rows beside those that its master had given."""

import pyarrow as pa
import pytest

from consumers.polling.brokers.stand_in import without_older
from consumers.polling.reading import NEVER_COMMITTED, NOT_CAUGHT_UP
from tests.readings import ROW, row


def table(*rows):
    return pa.Table.from_pylist(list(rows), ROW)


@pytest.mark.parametrize(
    ("master", "slave", "expected"),
    [
        ((7, 10), (7, 10), (7, 10)),
        ((7, 10), (8, 12), (8, 12)),
        ((7, 10), (6, 10), (None, None)),
        ((7, 10), (7, 9), (None, None)),
        ((None, 10), (0, 10), (0, 10)),
        ((7, None), (7, 3), (7, 3)),
        ((7, 10), (None, 10), (None, 10)),
    ],
)
def test_a_queue_is_unknown_where_the_slave_says_less(master, slave, expected):
    rows = without_older(table(row("g", "T", 0, *slave)), table(row("g", "T", 0, *master)))
    assert (rows["consumer_offset"].to_pylist(), rows["broker_offset"].to_pylist()) == ([expected[0]], [expected[1]])
    assert rows["unknown_reason"].to_pylist() == [NOT_CAUGHT_UP if expected == (None, None) else None]


def test_other_rows_and_their_order_stay():
    slave = table(row("b", "T", 1, 5, 9), row("a", "T", 0, 1, 9), row("a", "New", 0, None, 9))
    slave = slave.set_column(7, "unknown_reason", pa.array([None, None, NEVER_COMMITTED]))
    after = without_older(slave, table(row("a", "T", 0, 3, 9), row("b", "T", 1, 5, 9)))
    assert after["group"].to_pylist() == ["b", "a", "a"]
    assert after["consumer_offset"].to_pylist() == [5, None, None]
    assert after["unknown_reason"].to_pylist() == [None, NOT_CAUGHT_UP, NEVER_COMMITTED]
    assert after.column_names == slave.column_names


def test_texts_may_be_encoded_each_in_its_own_way():
    def encoded(rows):
        columns = [rows[n].dictionary_encode() if rows.schema.field(n).type == pa.string() else rows[n] for n in names]
        return pa.table(columns, names=names)

    names = ROW.names
    slave, master = table(row("b", "T", 0, 1, 9), row("a", "T", 0, 1, 9)), table(row("a", "T", 0, 3, 9))
    assert without_older(encoded(slave), encoded(master))["consumer_offset"].to_pylist() == [1, None]
