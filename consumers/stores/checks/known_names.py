"""What the cluster knows, held against what a file says: topics, groups, members. What was not read judges nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.stores.files.stored_file import StoredFile

from .compared import mark
from .findings import Finding

# Brokers and clients write every 5 s; so long without a write is no accident of timing.
STALE = timedelta(minutes=10)
LEFT_BEHIND = "left_behind"


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
    for column, names, why in (
        ("topic", known.topics, "it was deleted, or the name is wrong."),
        ("group", known.groups, "it was deleted, or the name is wrong."),
        ("broker", known.brokers, "it is gone, or the file belongs to another cluster."),
    ):
        if names is not None and file.rows is not None:
            file = _mark_unknown(file, column, names, why)
    if file.broker is not None and known.brokers is not None and file.broker not in known.brokers:
        sentence = f"The cluster has no broker {file.broker}, which this file was said to belong to."
        file = file.with_findings(Finding("unknown_broker", None, sentence))
    return file


def _mark_unknown(file: StoredFile, column: str, names: Iterable[str], why: str) -> StoredFile:
    assert file.rows is not None
    values = file.rows[column]
    unknown = pc.and_(pc.is_valid(values), pc.invert(pc.is_in(values, value_set=pa.array(sorted(names), pa.string()))))

    def say(at: int) -> str:
        return f"No {column} of the cluster is named {values[at]}: {why}"

    return mark(file, np.asarray(unknown.to_numpy(), bool), f"unknown_{column}", say)


def mark_abandoned(file: StoredFile, known: KnownNames, now: datetime) -> StoredFile:
    """Files that nobody writes any more, and files of clients that are gone: their offsets are not anybody's lag."""
    if file.rows is None or file.modified_at is None:
        return file
    stale = now - file.modified_at > STALE
    if file.kind == "consumer_file" and file.group is not None:
        members = known.members.get(file.group)
        if stale and members and members.client_ids is not None and file.client_id not in members.client_ids:
            return _mark_all(file, LEFT_BEHIND, f"Left behind by a client that is gone; last written {_at(file)}.")
        if members and members.message_model == "CLUSTERING":
            file = file.with_findings(Finding("not_broadcasting", None, _not_read(file.group)))
    if stale:
        sentence = f"Last written {_at(file)}, though its writer writes every 5 s: it is stopped, or cannot write."
        file = file.with_findings(Finding("stale", None, sentence))
    return file


def _mark_all(file: StoredFile, name: str, sentence: str) -> StoredFile:
    assert file.rows is not None
    if not file.rows.num_rows:
        return file.with_findings(Finding(name, None, sentence))
    marked = mark(file, np.ones(file.rows.num_rows, bool), name, lambda at: sentence)
    return replace(marked, findings=(*file.findings, Finding(name, None, sentence)))


def _not_read(group: str) -> str:
    return f"The members of {group} keep their offsets on the brokers: none of them reads this file."


def _at(file: StoredFile) -> str:
    return f"at {file.modified_at:%Y-%m-%d %H:%M:%S} UTC"
