"""The bytes of an offset file as the entries of its `offsetTable`, with the line of each; all else is a FileProblem."""

import re
from bisect import bisect
from dataclasses import dataclass
from functools import cached_property

from consumers.rocketmq.bodies.fastjson import Entries, MalformedJson, loads_entries
from consumers.rocketmq.wire.errors import RemoteProtocolError
from consumers.stores.checks.findings import Finding
from consumers.vocabulary.offset_files import FileCode, JsonKind

from .problems import FileProblem

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
