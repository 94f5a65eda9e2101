"""Why a file has no rows: a code and parameters. As exceptions while it is read, as a `Problem` afterwards."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from consumers.vocabulary.offset_files import FileCode

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
