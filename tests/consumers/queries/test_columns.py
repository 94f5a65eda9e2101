"""Columns as lists: the quick way gives what Arrow's own gives."""

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from consumers.queries.history import as_list

CASES = [
    (pa.string(), st.text(max_size=3)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.float64(), st.floats(allow_nan=False)),
]


@pytest.mark.parametrize(("kind", "values"), CASES, ids=["text", "int64", "int32", "float64"])
def test_it_is_what_arrow_says(kind, values):
    @given(st.lists(st.lists(st.none() | values, max_size=4), max_size=3))
    def of_any_chunks(chunks):
        column = pa.chunked_array([pa.array(chunk, kind) for chunk in chunks], kind)
        assert as_list(column) == column.to_pylist()

    of_any_chunks()
