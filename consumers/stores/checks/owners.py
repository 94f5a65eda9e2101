"""Which broker a broker's file belongs to: as its glob says, or as nothing else is possible; else nobody knows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from consumers.stores.files.stored_file import StoredFile

from .findings import Finding

OF_BROKERS = ("broker_file", "delay_file")


def assign_brokers(
    files: Sequence[StoredFile], named: Mapping[str, str | None], brokers: frozenset[str] | None
) -> list[StoredFile]:
    """`named`: the broker that a path's glob names. `brokers`: all of the cluster's; None: that was not read."""
    files = [replace(file, broker=named.get(str(file.path))) if file.kind in OF_BROKERS else file for file in files]
    claims: dict[tuple[str | None, str | None], int] = {}
    for file in files:
        claims[file.kind, file.broker] = claims.get((file.kind, file.broker), 0) + 1
    return [_assign(file, claims, brokers) if file.kind in OF_BROKERS else file for file in files]


def _assign(
    file: StoredFile, claims: Mapping[tuple[str | None, str | None], int], brokers: frozenset[str] | None
) -> StoredFile:
    if file.broker is None:
        return _infer(file, claims, brokers)
    if claims[file.kind, file.broker] > 1:
        sentence = f"More than one {file.path.name} is said to be of {file.broker}: name one, of its master."
        return file.with_findings(Finding("broker_named_twice", None, sentence))
    return file


def _infer(
    file: StoredFile, claims: Mapping[tuple[str | None, str | None], int], brokers: frozenset[str] | None
) -> StoredFile:
    """Certain only where the cluster has one broker, and this file is the only one that can be its."""
    if brokers is not None and len(brokers) == 1 and claims[file.kind, None] == 1:
        (only,) = brokers
        if (file.kind, only) not in claims:
            return replace(file, broker=only)
    sentence = f"Nothing tells which broker this file is of: write BROKER={file.path} in the cluster's offset files."
    return file.with_findings(Finding("broker_not_told", None, sentence))
