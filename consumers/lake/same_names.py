"""What a file of one reading says of the names in its rows: most readings have the same queues in the same order.

Whoever reads many of them reads the names of one, and of the others what differs.
"""

import hashlib
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

NAMES = ("cluster", "group", "topic", "broker", "queue_id", "kind")
NOTE = "consumerscope.names"


def names_note(rows: pa.Table) -> dict[str, str]:
    """As Parquet's metadata: the same text for the same names in the same order, however they are encoded."""
    digest = hashlib.blake2b(digest_size=16)
    for name in NAMES:
        column = rows[name].combine_chunks()
        chunk = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
        encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        indices = np.asarray(encoded.indices.fill_null(-1), np.int64)
        # Numbers in the order of first rows, whatever numbers the column has.
        seen = np.asarray(pc.unique(pa.array(indices)))
        places = np.empty(len(encoded.dictionary) + 1, np.int32)
        places[seen] = np.arange(len(seen), dtype=np.int32)
        values = encoded.dictionary.take(pa.array(seen, mask=seen < 0)).to_pylist()
        digest.update(places[indices].tobytes() + json.dumps(values).encode())
    return {NOTE: digest.hexdigest()}


def noted_names(metadata: pq.FileMetaData) -> str | None:
    """None where the file does not tell: it has rows of several readings."""
    note = (metadata.metadata or {}).get(NOTE.encode())
    return None if note is None else note.decode()
