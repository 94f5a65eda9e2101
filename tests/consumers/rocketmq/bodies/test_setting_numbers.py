"""Settings that clients and brokers send as text, as numbers."""

import pytest

from consumers.rocketmq.bodies.fields import count_of, number_of


@pytest.mark.parametrize(
    ("setting", "number", "count"),
    [
        ("16", 16, 16),
        ("-1", -1, None),
        ("9223372036854775807", 2**63 - 1, 2**63 - 1),
        ("99999999999999999999", None, None),
        ("", None, None),
        ("1.5", None, None),
        ("²", None, None),
        (None, None, None),
    ],
)
def test_a_setting_is_a_number_where_its_text_is_a_whole_one(setting, number, count):
    assert (number_of(setting), count_of(setting)) == (number, count)
