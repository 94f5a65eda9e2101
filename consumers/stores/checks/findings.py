"""Findings about a file or a row of it: a code and parameters; their words are made in `consumers.words`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from consumers.vocabulary.offset_files import FileCode

# A file may have a million rows, and the same may be wrong with each: rows keep their finding, the file's list ends.
LISTED = 100


@dataclass(frozen=True)
class Finding:
    """`where` is a line, a key or a queue; None: the whole file."""

    code: FileCode
    where: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """For programs."""
        return self.code.partition(".")[0]

    def members(self) -> dict[str, Any]:
        return {"code": self.code.value, "where": self.where, "params": dict(self.params)}


def listed(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that a file's list shows: all, or the first hundred with the number of the others."""
    if len(findings) <= LISTED:
        return tuple(findings)
    return (*findings[:LISTED], Finding(FileCode.MORE_FINDINGS, None, {"others": len(findings) - LISTED}))


def stored(findings: Iterable[Finding], before: str | None = None) -> str | None:
    """What a row stores of its findings, after those it has already; None where nothing is wrong with it."""
    found = [finding.members() for finding in findings]
    every = [*(json.loads(before) if before else ()), *found]
    return json.dumps(every, ensure_ascii=False) if every else None
