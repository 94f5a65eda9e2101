"""Offset files for tests: the real ones, small ones written as RocketMQ writes them, and files as they were read."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from consumers.stores.files.problems import Problem
from consumers.stores.files.read_file import read_offset_file
from consumers.stores.files.stored_file import ROWS, StoredFile
from consumers.vocabulary.offset_files import FileCode
from consumers.words.offset_files import finding_words, problem_words, row_words

DATA = Path(__file__).resolve().parents[2] / "data" / "stores"
NOW = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
MEBIBYTE = 1024 * 1024


def broker_file(table: str) -> bytes:
    return f'{{\n\t"dataVersion":{{"counter":0}},\n\t"offsetTable":{{\n\t\t{table}\n\t}}\n}}'.encode()


def write(folder: Path, body: bytes, name: str = "consumerOffset.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return path


def read(path, *, wait=lambda seconds: None, max_bytes=MEBIBYTE, now=NOW, within=("/",)):
    return read_offset_file(path, now, max_bytes, wait, within)


def rows(file, *names):
    """The named columns of a file's rows; all that a healthy row has where none is named."""
    wanted = names or ("group", "topic", "queue_id", "offset")
    return [tuple(_shown(name, row[name]) for name in wanted) for row in file.table().to_pylist()]


def _shown(name, value):
    return row_words(value) if name == "finding" else value


def in_words(finding):
    return finding_words(finding.members())


def why(file):
    """The problem of a file that gave no rows, in words."""
    return problem_words(file.error and file.error.stored())


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
