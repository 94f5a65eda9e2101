"""What is worth saying about a file or a row of it: `name` for programs, `sentence` for people."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# A file may have a million rows, and the same may be wrong with each: rows keep their finding, the file's list ends.
LISTED = 100


@dataclass(frozen=True)
class Finding:
    """`where` is a line, a key or a queue; None: the whole file."""

    name: str
    where: str | None
    sentence: str


def listed(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that a file's list shows: all, or the first hundred with the number of the others."""
    if len(findings) <= LISTED:
        return tuple(findings)
    others = len(findings) - LISTED
    return (*findings[:LISTED], Finding("more", None, f"{others} further findings stand at their rows only."))


def sentences(findings: Iterable[Finding]) -> str | None:
    """What a row says of itself; None where nothing is wrong with it."""
    return " ".join(finding.sentence for finding in findings) or None
