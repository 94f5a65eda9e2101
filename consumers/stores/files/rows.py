"""Collects the rows of a file one by one, each with what is wrong with it; a queue that stands twice is one row."""

from dataclasses import dataclass, field

import pyarrow as pa

from consumers.stores.checks.findings import Finding, sentences

from .stored_file import ROWS

INT32, INT64 = 1 << 31, 1 << 63
# A row that stands a million times is told about so often: the first few tell what is wrong with it.
MOST_OF_A_ROW = 10
Row = tuple[str | None, str | None, str | None, int | None, int | None]


@dataclass
class RowCollector:
    """`add` keeps the last of the rows with one key, as fastjson does when a broker or client loads the file."""

    rows: dict[object, Row] = field(default_factory=dict)
    of_rows: dict[object, list[Finding]] = field(default_factory=dict)
    of_file: list[Finding] = field(default_factory=list)
    twice: set[object] = field(default_factory=set)

    def add(self, key: object, row: Row, findings: list[Finding], where: str) -> None:
        before, known = self.rows.get(key), self.of_rows.get(key, [])
        self.rows[key] = row
        if len(known) >= MOST_OF_A_ROW:
            return
        if before is not None and key not in self.twice:
            self.twice.add(key)
            sentence = f"{where} stands more than once, first with {before[4]}: the last is what will be loaded."
            known.append(Finding("stands_twice", where, sentence))
        known += findings
        if known:
            self.of_rows[key] = known

    @property
    def findings(self) -> list[Finding]:
        return [*self.of_file, *(finding for findings in self.of_rows.values() for finding in findings)]

    def table(self) -> pa.Table:
        said = [sentences(self.of_rows.get(key, ())) for key in self.rows]
        columns = [*zip(*self.rows.values(), strict=True)] or [()] * 5
        return pa.table([*(list(column) for column in columns), said], schema=ROWS)


def held(value: object) -> str:
    """What stands in the place of something else, by its kind: a text may be anybody's secret."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, (str, bool)):
        return "a text" if isinstance(value, str) else "true or false"
    if isinstance(value, (int, float)):
        return "a whole number" if isinstance(value, int) else "a fraction"
    return "a list or an object"


def read_queue_id(value: object, where: str, word: str = "queue id") -> tuple[int | None, list[Finding]]:
    """A map's key; a standard JSON encoder writes the number as text. What no queue can have is kept with a finding."""
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19 else value
    if not isinstance(number, int) or isinstance(number, bool):
        return None, [Finding("wrong_queue_id", where, f"{where}: the {word} is {held(value)}, not a whole number.")]
    kept = number if -INT32 <= number < INT32 else None
    if not 0 <= number < INT32:
        return kept, [Finding("wrong_queue_id", where, f"{where}: the {word} {number} is out of range.")]
    return kept, []


def read_offset(value: object, where: str) -> tuple[int | None, list[Finding]]:
    """What is not a whole number of 64 bits is no offset; a negative one is kept with a finding."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None, [Finding("wrong_offset", where, f"{where}: the offset is {held(value)}, not a whole number.")]
    if not -INT64 <= value < INT64:
        return None, [Finding("wrong_offset", where, f"{where}: the offset {value} is larger than any can be.")]
    if value < 0:
        return value, [Finding("wrong_offset", where, f"{where}: the offset {value} is below zero.")]
    return value, []
