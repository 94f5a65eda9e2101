"""A column of Arrow as a list, several times as fast as its own way, which makes an object of each value."""

from typing import Any

import pyarrow as pa


def as_list(column: pa.ChunkedArray) -> list[Any]:
    """The same as `to_pylist` for texts and numbers."""
    whole = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_string(whole.type):
        encoded = whole.dictionary_encode()
        texts = [*encoded.dictionary.to_pylist(), None]
        return [texts[code] for code in encoded.indices.fill_null(len(texts) - 1).to_numpy().tolist()]
    if not whole.null_count:
        return list(whole.to_numpy().tolist())
    values, known = whole.fill_null(0).to_numpy().tolist(), whole.is_valid().to_numpy(zero_copy_only=False).tolist()
    return [value if is_known else None for value, is_known in zip(values, known, strict=True)]
