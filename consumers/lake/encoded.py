"""Columns whose values repeat, as numbers: the places of each row's value in a list of distinct values."""

import numpy as np
import pyarrow as pa


def encoded(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """Returns a column, dictionary-encoded or not, as one encoded array."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        chunks = column.unify_dictionaries().chunks
        column = pa.concat_arrays(chunks) if chunks else pa.nulls(0, column.type)
    return column


def indices(column: pa.DictionaryArray) -> np.ndarray:
    """Returns the place of each row's value in the dictionary, -1 for null."""
    return np.asarray(column.indices.fill_null(-1), np.int64)
