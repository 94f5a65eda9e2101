"""Says of many rows at once what is wrong with them: at the rows, and once for each sentence in the file's list."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from consumers.stores.files.stored_file import ROWS, StoredFile

from .findings import Finding, listed

Say = Callable[[int], str]


def mark(file: StoredFile, where: np.ndarray, name: str, say: Say) -> StoredFile:
    """`where`: one truth a row; `say` gives the sentence of a row by its number."""
    if file.rows is None or not where.any():
        return file
    said = file.rows["finding"].to_pylist()
    places: dict[str, str] = {}
    for at in np.flatnonzero(where).tolist():
        sentence = say(at)
        places.setdefault(sentence, place(file.rows, at))
        said[at] = sentence if said[at] is None else f"{said[at]} {sentence}"
    found = [Finding(name, at_row, sentence) for sentence, at_row in places.items()]
    rows = file.rows.set_column(ROWS.names.index("finding"), ROWS.field("finding"), pa.array(said, pa.string()))
    return replace(file, rows=rows, findings=(*file.findings, *listed(found)))


def place(rows: pa.Table, at: int) -> str:
    topic, group, queue_id = (rows[name][at].as_py() for name in ("topic", "group", "queue_id"))
    return f"{topic}@{group} queue {queue_id}" if group is not None else f"{topic} queue {queue_id}"
