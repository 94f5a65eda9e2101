"""The bytes of an offset file as the entries of its `offsetTable`, with the line of each; all else is a FileProblem."""

import re
from bisect import bisect
from dataclasses import dataclass
from functools import cached_property

from consumers.rocketmq.bodies.fastjson import Entries, MalformedJson, loads_entries
from consumers.rocketmq.wire.errors import RemoteProtocolError
from consumers.stores.checks.findings import Finding

from .problems import CutOff, Empty, Malformed, NotOffsets

BOM = b"\xef\xbb\xbf"
_TABLE = "offsetTable"
_WITH_BOM = Finding(
    "byte_order_mark", "line 1", "An editor has put a byte order mark before the first line: save it without one."
)


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
    """Raises Empty, CutOff, Malformed or NotOffsets."""
    refuse_what_holds_nothing(body)
    bare = body.removeprefix(BOM)
    entries = _offset_table(_loads(bare))
    return Content(bare.decode(), entries, (_WITH_BOM,) if len(bare) < len(body) else ())


def refuse_what_holds_nothing(body: bytes) -> None:
    if not body.strip():
        raise Empty("is empty. Brokers and clients write it again every 5 s: if it stays empty, look for a full disk.")
    if not body.strip(b"\0"):
        raise Malformed("holds zero bytes only, as after a crash of its machine: its writer will write it again.")


def _loads(body: bytes) -> object:
    try:
        return loads_entries(body)
    except MalformedJson as error:
        if error.cut_off:
            raise CutOff(f"is cut off after {len(body)} bytes: {_unless_rewritten()}") from error
        raise Malformed(f"is broken at {_place(body, error.position)}: {_unless_rewritten()}") from error
    except RemoteProtocolError as error:
        # Its sentence speaks of bodies, and names the byte.
        raise Malformed(f"is no text: {error.sentence.removeprefix('a body that ')}. Is it an offset file?") from error


def _unless_rewritten() -> str:
    return "if its writer runs, it will write it again within 5 s; else restore it, or copy its .bak over it."


def _place(body: bytes, position: int) -> str:
    """Without what stands there: of a file that is no offset file nothing is shown."""
    text = body.decode()
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    return f"line {line}, column {column}"


def _offset_table(value: object) -> Entries:
    if not isinstance(value, Entries):
        held = "a list" if isinstance(value, list) else "a single value"
        raise NotOffsets(f"holds {held} where an object with an {_TABLE} belongs: it is no offset file.")
    tables = [entry.value for entry in value if entry.key == _TABLE]
    if not tables:
        raise NotOffsets(f"has no {_TABLE}: it is no offset file, or was emptied by hand.")
    if len(tables) > 1:
        raise NotOffsets(f"has {len(tables)} tables named {_TABLE}: leave one.")
    if not isinstance(tables[0], Entries):
        raise NotOffsets(f"has an {_TABLE} that is no object: restore it, or copy its .bak over it.")
    return tables[0]
