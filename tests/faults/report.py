"""One row for each fault: until it was told, until it was healed, and what was wrong. A table, and JSON."""

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

COLUMNS = f"{'fault':<58}{'lasted':>8}{'told':>8}{'healed':>8}{'repeated':>10}  complaints"


@dataclass
class Outcome:
    """`told_seconds` are counted from its beginning, `healed_seconds` from its end; null where it did not come to that.

    `repeated`: messages to the receiver of alerts that came again, under their own number.
    """

    fault: str
    lasted_seconds: float | None = None
    told_seconds: float | None = None
    healed_seconds: float | None = None
    repeated: int = 0
    complaints: list[str] = field(default_factory=list)

    def line(self) -> str:
        times = "".join(
            f"{'–' if seconds is None else f'{seconds:.1f} s':>8}"
            for seconds in (self.lasted_seconds, self.told_seconds, self.healed_seconds)
        )
        return f"{self.fault:<58}{times}{self.repeated:>10}  {'; '.join(self.complaints) or 'none'}"


class Report:
    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._taken_at = datetime.now(UTC)
        self._outcomes: list[Outcome] = []
        # Of what is no fault: {what: {name: number}}.
        self.measured: dict[str, dict[str, Any]] = {}

    def begin(self, fault: str) -> Outcome:
        self._outcomes.append(Outcome(fault))
        return self._outcomes[-1]

    def table(self) -> str:
        measured = [f"{what}: {json.dumps(told)}" for what, told in self.measured.items()]
        return "\n".join([COLUMNS, *(outcome.line() for outcome in self._outcomes), *measured])

    def write(self) -> None:
        """After each, so that one that breaks off does not take the others' with it."""
        if self._path is None:
            return
        machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
        rows = [asdict(outcome) for outcome in self._outcomes]
        whole = {"taken_at": self._taken_at.isoformat(), **machine, "results": rows, "measured": self.measured}
        self._path.write_text(json.dumps(whole, indent=2) + "\n")
