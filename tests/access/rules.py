"""The tables of docs/access.md, as rules: the first row that names an address and a method decides."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "access.md"
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
PLACE = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Rule:
    """`answers` by column of the table: whoever asks. Each is a set of status codes, or of `login`, `admin login`."""

    address: str
    methods: frozenset[str]
    answers: dict[str, frozenset[str]]

    @cached_property
    def columns(self) -> frozenset[str]:
        return frozenset(self.answers)

    def covers(self, route: str, method: str) -> bool:
        return method in self.methods and _expression(self.address).fullmatch(PLACE.sub("x", route)) is not None


def rules(text: str) -> list[Rule]:
    return [rule for header, row in _rows(text) for rule in _rules_of(header, row)]


def rule_for(found: list[Rule], route: str, method: str, columns: frozenset[str]) -> Rule | None:
    """Of the table that has these columns."""
    return next((rule for rule in found if rule.columns == columns and rule.covers(route, method)), None)


def _rules_of(header: list[str], row: list[str]) -> Iterator[Rule]:
    methods = frozenset(METHODS if row[1] == "any other" else row[1].split(", "))
    assert methods <= set(METHODS), f"{row[1]!r} are no methods"
    answers = {who: frozenset(cell.split(", ")) for who, cell in zip(header[2:], row[2:], strict=True)}
    for address in re.findall(r"`([^`]+)`", row[0]):
        yield Rule(address, methods, answers)


def _rows(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Of tables whose first column is called addresses."""
    header: list[str] | None = None
    for line in text.splitlines():
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "addresses":
            header = cells
        elif header is not None and not cells[0].startswith("---"):
            yield header, cells


@cache
def _expression(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*|\*)", glob)
    return re.compile("".join({"**": ".*", "*": "[^/]+"}.get(part, re.escape(part)) for part in parts))
