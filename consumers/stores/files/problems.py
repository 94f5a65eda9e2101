"""Why a file has no rows: a code and parameters. As exceptions while it is read, as a `Problem` afterwards."""

import json
import re
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from consumers.rocketmq.bodies.fastjson import Entries, MalformedJson, loads_entries
from consumers.rocketmq.wire.codes import RemoteProtocolError
from consumers.vocabulary.offset_files import FileCode, JsonKind

# A file is rewritten every 5 s: these may be over in a moment.
PASSING = ("missing", "empty", "cut_off", "malformed", "not_offsets", "changed")


@dataclass(frozen=True)
class Problem:
    """`params` has the path. `backup`: the problem of its backup, where there is one."""

    code: FileCode
    params: Mapping[str, Any] = field(default_factory=dict)
    backup: "Problem | None" = None

    @property
    def name(self) -> str:
        """For programs."""
        return self.code.partition(".")[0]

    def members(self) -> dict[str, Any]:
        own: dict[str, Any] = {"code": self.code.value, "params": dict(self.params)}
        return own if self.backup is None else {**own, "backup": self.backup.members()}

    def stored(self) -> str:
        return json.dumps(self.members(), ensure_ascii=False)


class FileProblem(Exception):
    """`passing`: it may be over in a moment, because the file is being rewritten."""

    def __init__(self, code: FileCode, **params: str | float) -> None:
        super().__init__(code, params)
        self.code, self.params = code, params

    @property
    def passing(self) -> bool:
        return self.code.partition(".")[0] in PASSING

    def of(self, path: object) -> Problem:
        return Problem(self.code, {"path": str(path), **self.params})


# Findings about a file or a row of it: a code and parameters; their words are made in `consumers.words`.

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


# The bytes of an offset file as the entries of its `offsetTable`, with the line of each; all else is a FileProblem.

BOM = b"\xef\xbb\xbf"
_TABLE = "offsetTable"
_WITH_BOM = Finding(FileCode.BYTE_ORDER_MARK, "line 1")


@dataclass(frozen=True)
class Content:
    """`text` is what positions count in."""

    text: str
    entries: Entries
    findings: tuple[Finding, ...]

    def line(self, position: int) -> int:
        return bisect(self._ends, position - 1) + 1

    @cached_property
    def _ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]


def read_content(body: bytes) -> Content:
    """Raises FileProblem."""
    refuse_what_holds_nothing(body)
    bare = body.removeprefix(BOM)
    entries = _offset_table(_loads(bare))
    return Content(bare.decode(), entries, (_WITH_BOM,) if len(bare) < len(body) else ())


def refuse_what_holds_nothing(body: bytes) -> None:
    if not body.strip():
        raise FileProblem(FileCode.EMPTY)
    if not body.strip(b"\0"):
        raise FileProblem(FileCode.ZERO_BYTES)


def _loads(body: bytes) -> object:
    try:
        return loads_entries(body)
    except MalformedJson as error:
        if error.cut_off:
            raise FileProblem(FileCode.CUT_OFF, bytes=len(body)) from error
        line, column = _place(body, error.position)
        raise FileProblem(FileCode.MALFORMED, line=line, column=column) from error
    except RemoteProtocolError as error:
        # Its sentence speaks of bodies, and names the byte.
        raise FileProblem(FileCode.NOT_TEXT, detail=error.sentence.removeprefix("a body that ")) from error


def _place(body: bytes, position: int) -> tuple[int, int]:
    """Line and column, without what is there: of a file that is no offset file nothing is shown."""
    text = body.decode()
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    return line, column


def _offset_table(value: object) -> Entries:
    if not isinstance(value, Entries):
        raise FileProblem(FileCode.NOT_OFFSETS, held=json_kind(value))
    tables = [entry.value for entry in value if entry.key == _TABLE]
    if not tables:
        raise FileProblem(FileCode.NO_TABLE)
    if len(tables) > 1:
        raise FileProblem(FileCode.MANY_TABLES, tables=len(tables))
    if not isinstance(tables[0], Entries):
        raise FileProblem(FileCode.TABLE_KIND)
    return tables[0]


def json_kind(value: object) -> JsonKind:
    """What is in the place of something else, by its kind: a text may be anybody's secret."""
    if value is None:
        return JsonKind.NULL
    if isinstance(value, bool):
        return JsonKind.BOOLEAN
    if isinstance(value, str):
        return JsonKind.TEXT
    if isinstance(value, (int, float)):
        return JsonKind.NUMBER if isinstance(value, int) else JsonKind.FRACTION
    return JsonKind.LIST if isinstance(value, list) else JsonKind.OBJECT
