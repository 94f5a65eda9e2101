"""Columns of repeated values as numbers."""

import pyarrow as pa
import pytest

from consumers.lake.encoded import encoded, indices

TEXTS = pa.chunked_array([["b", None], ["a", "b"]])


@pytest.mark.parametrize(
    "column",
    [
        TEXTS,
        TEXTS.dictionary_encode(),
        pa.chunked_array([chunk.dictionary_encode() for chunk in TEXTS.chunks]),
        pa.array(["b", None, "a", "b"]),
        pa.array(["b", None, "a", "b"]).dictionary_encode(),
    ],
    ids=["texts", "encoded", "encoded by chunk", "array", "encoded array"],
)
def test_a_column_is_one_array_of_the_same_numbers_however_it_comes(column):
    found = encoded(column)
    assert found.dictionary.to_pylist() == ["b", "a"]
    assert indices(found).tolist() == [0, -1, 1, 0]


@pytest.mark.parametrize("of", [pa.string(), pa.timestamp("us", tz="UTC")])
def test_a_column_without_chunks_has_no_rows_and_no_values(of):
    found = encoded(pa.chunked_array([], of))
    assert (found.to_pylist(), found.dictionary.to_pylist()) == ([], [])
