"""What the cluster knows, held against what a file says: topics, groups, members. What was not read judges nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.stores.files.stored_file import StoredFile
from consumers.vocabulary.offset_files import FileCode

from .compared import mark
from .findings import Finding

# Brokers and clients write every 5 s; so long without a write is no accident of timing.
STALE = timedelta(minutes=10)


@dataclass(frozen=True)
class PresentMembers:
    """`client_ids` is None unless every broker of the group said who its members are."""

    client_ids: frozenset[str] | None
    message_model: str | None


@dataclass(frozen=True)
class KnownNames:
    """None: not read, or not read whole."""

    topics: frozenset[str] | None
    groups: frozenset[str] | None
    brokers: frozenset[str] | None
    members: Mapping[str, PresentMembers]


def mark_unknown_names(file: StoredFile, known: KnownNames) -> StoredFile:
    for column, names, code in (
        ("topic", known.topics, FileCode.UNKNOWN_TOPIC),
        ("group", known.groups, FileCode.UNKNOWN_GROUP),
        ("broker", known.brokers, FileCode.UNKNOWN_BROKER),
    ):
        if names is not None and file.rows is not None:
            file = _mark_unknown(file, column, names, code)
    if file.broker is not None and known.brokers is not None and file.broker not in known.brokers:
        file = file.with_findings(Finding(FileCode.BROKER_NOT_IN_CLUSTER, None, {"broker": file.broker}))
    return file


def _mark_unknown(file: StoredFile, column: str, names: Iterable[str], code: FileCode) -> StoredFile:
    assert file.rows is not None
    values = file.rows[column]
    unknown = pc.and_(pc.is_valid(values), pc.invert(pc.is_in(values, value_set=pa.array(sorted(names), pa.string()))))
    return mark(file, np.asarray(unknown.to_numpy(), bool), lambda at: (code, {"name": values[at].as_py()}))


def mark_abandoned(file: StoredFile, known: KnownNames, now: datetime) -> StoredFile:
    """Files that nobody writes any more, and files of clients that are gone: their offsets are not anybody's lag."""
    if file.rows is None or file.modified_at is None:
        return file
    stale = now - file.modified_at > STALE
    if file.kind == "consumer_file" and file.group is not None:
        members = known.members.get(file.group)
        if stale and members and members.client_ids is not None and file.client_id not in members.client_ids:
            return _mark_all(file, FileCode.LEFT_BEHIND, {"at": _at(file)})
        if members and members.message_model == "CLUSTERING":
            file = file.with_findings(Finding(FileCode.NOT_BROADCASTING, None, {"group": file.group}))
    if stale:
        file = file.with_findings(Finding(FileCode.STALE, None, {"at": _at(file)}))
    return file


def _mark_all(file: StoredFile, code: FileCode, params: dict[str, str]) -> StoredFile:
    assert file.rows is not None
    if not file.rows.num_rows:
        return file.with_findings(Finding(code, None, params))
    marked = mark(file, np.ones(file.rows.num_rows, bool), lambda at: (code, params))
    return replace(marked, findings=(*file.findings, Finding(code, None, params)))


def _at(file: StoredFile) -> str:
    return f"{file.modified_at:%Y-%m-%d %H:%M:%S} UTC"
