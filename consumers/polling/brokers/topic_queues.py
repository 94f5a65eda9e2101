"""The queues of one broker's topics as integers: the topic's place in a list of names, and the queue id."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

QUEUE_BITS = 20
QUEUE_MASK = (1 << QUEUE_BITS) - 1


def encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column of texts, dictionary-encoded or not, as one encoded array."""
    if pa.types.is_dictionary(column.type):
        whole = column.unify_dictionaries().combine_chunks()
    else:
        whole = column.combine_chunks().dictionary_encode()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def codes(column: pa.DictionaryArray, names: pa.Array) -> np.ndarray:
    """The place in `names` of each row's text, -1 where it is not there. The column has no nulls."""
    places = pc.index_in(column.dictionary, value_set=names).fill_null(-1).to_numpy().astype(np.int64)
    return places[column.indices.to_numpy()] if len(places) else np.empty(0, np.int64)


def distinct(*columns: pa.DictionaryArray) -> pa.Array:
    """Every text of the columns once, in order: what is sorted by its codes is sorted by its texts."""
    texts = pc.unique(pa.chunked_array([column.dictionary for column in columns], pa.string()))
    return texts.take(pc.sort_indices(texts))


def queue_ids(table: pa.Table) -> np.ndarray:
    return table["queue_id"].to_numpy().astype(np.int64)


def distinct_sorted(values: np.ndarray) -> np.ndarray:
    """Far faster than np.unique for what comes nearly in order."""
    values = np.sort(values, kind="stable")
    return values[np.append(True, values[1:] != values[:-1])] if len(values) else values
