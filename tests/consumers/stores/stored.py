"""Files as they were read, made by hand."""

from pathlib import Path

import pyarrow as pa

from consumers.stores.files.problems import Problem
from consumers.stores.files.stored_file import ROWS, StoredFile
from consumers.vocabulary.offset_files import FileCode
from consumers.words.offset_files import row_words
from tests.consumers.stores.stored_samples import NOW


def a_row(group, topic, queue_id, offset, broker=None):
    return {"broker": broker, "group": group, "topic": topic, "queue_id": queue_id, "offset": offset}


def a_file(*rows, kind="broker_file", path="/data/a/consumerOffset.json", modified_at=NOW, **fields):
    table = pa.Table.from_pylist(list(rows), ROWS)
    return StoredFile(path=Path(path), kind=kind, rows=table, modified_at=modified_at, **fields)


def a_failed_file(kind="broker_file", path="/data/a/consumerOffset.json"):
    return StoredFile(path=Path(path), kind=kind, error=Problem(FileCode.MISSING, {"path": path}))


def said(file):
    return [row_words(text) for text in file.rows["finding"].to_pylist()]


def names(file):
    return [finding.name for finding in file.findings]
