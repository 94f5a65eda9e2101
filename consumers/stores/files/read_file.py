"""Reads one offset file, also while it is being rewritten: file, again a few times, then its backup, as brokers do.

RocketMQ 5.4.0 moves the file to `.bak` and writes it anew (ConfigManager.persist); clients and brokers up to 5.3.2 copy
it to `.bak` and write over it (MixAll.string2File). A reader can find no file, an empty one, or half of one.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from consumers.stores.checks.findings import Finding, listed
from consumers.stores.spans import span
from consumers.vocabulary.offset_files import FileCode

from .content import BOM, read_content, refuse_what_holds_nothing
from .disk import read_bytes, rocksdb_beside
from .parsed import broker_rows, broker_rows_at_once, client_and_group, consumer_rows, delay_rows
from .problems import FileProblem, Problem
from .stored_file import BACKUP_SUFFIX, Kind, StoredFile, kind_by_name

Wait = Callable[[float], None]
# A file of 5 MB is written within some 20 ms; a slow disk may take longer.
WAITS_SECONDS = (0.05, 0.1, 0.2, 0.4)


@dataclass(frozen=True)
class _Parsed:
    kind: Kind
    rows: pa.Table
    modified_at: datetime
    findings: list[Finding]


def read_offset_file(path: Path, now: datetime, max_bytes: int, wait: Wait, folders: Sequence[str]) -> StoredFile:
    """Never raises for what is wrong with a file; `wait` is called between attempts with the seconds to wait. Of a file
    that does not parse no character is told. `folders`: no file outside of them is opened."""
    try:
        return _stored(path, _attempts(path, max_bytes, wait, folders))
    except FileProblem as problem:
        if not problem.passing:
            return _failed(path, problem)
        return _from_backup(path, problem, now, max_bytes, folders)


def _attempts(path: Path, max_bytes: int, wait: Wait, folders: Sequence[str]) -> _Parsed:
    for seconds in WAITS_SECONDS:
        try:
            return _read(path, path, max_bytes, folders)
        except FileProblem as problem:
            if not problem.passing:
                raise
        wait(seconds)
    return _read(path, path, max_bytes, folders)


def _from_backup(path: Path, problem: FileProblem, now: datetime, max_bytes: int, folders: Sequence[str]) -> StoredFile:
    backup = path.with_name(path.name + BACKUP_SUFFIX)
    try:
        parsed = _read(path, backup, max_bytes, folders)
    except FileProblem as worse:
        # That there is no backup either is nothing to add.
        return _failed(path, problem, worse.of(backup.name) if os.path.exists(backup) else None)
    age = span((now - parsed.modified_at).total_seconds())
    params = {"backup": backup.name, "age": age, "problem": problem.of(path.name).members()}
    return _stored(path, parsed, from_backup=True).with_findings(Finding(FileCode.FROM_BACKUP, None, params))


def _read(path: Path, source: Path, max_bytes: int, folders: Sequence[str]) -> _Parsed:
    """`source` is read as what `path` is."""
    kind = kind_by_name(path)
    if kind is None:
        raise FileProblem(FileCode.OTHER_NAME)
    body, modified_at = read_bytes(source, max_bytes, folders)
    refuse_what_holds_nothing(body)
    if kind == "broker_file" and not body.startswith(BOM):
        at_once = broker_rows_at_once(body)
        if at_once is not None:
            return _Parsed(kind, at_once, modified_at, [])
    content = read_content(body)
    if kind == "broker_file":
        rows = broker_rows(content)
    elif kind == "delay_file":
        rows = delay_rows(content)
    else:
        rows = consumer_rows(content, client_and_group(path)[1])
    return _Parsed(kind, rows.table(), modified_at, [*content.findings, *rows.findings])


def _stored(path: Path, parsed: _Parsed, *, from_backup: bool = False) -> StoredFile:
    findings = list(parsed.findings)
    client_id, group = None, None
    if parsed.kind == "consumer_file":
        client_id, group, unnamed = client_and_group(path)
        findings += unnamed
    if parsed.kind == "broker_file" and (folder := rocksdb_beside(path)):
        findings.append(Finding(FileCode.BESIDE_ROCKSDB, None, {"folder": str(folder)}))
    return StoredFile(
        path=path,
        kind=parsed.kind,
        rows=parsed.rows,
        modified_at=parsed.modified_at,
        from_backup=from_backup,
        findings=listed(findings),
        client_id=client_id,
        group=group,
    )


def _failed(path: Path, problem: FileProblem, of_backup: Problem | None = None) -> StoredFile:
    kind = kind_by_name(path)
    client_id, group, _ = client_and_group(path) if kind == "consumer_file" else (None, None, ())
    error = replace(problem.of(path), backup=of_backup)
    return StoredFile(path=path, kind=kind, error=error, client_id=client_id, group=group)
