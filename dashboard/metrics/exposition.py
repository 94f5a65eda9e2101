"""Writes metrics as text that Prometheus reads: its own format 0.0.4, or OpenMetrics 1.0.0.

All samples of a family stand together, as both formats demand. What is not known is no sample: neither 0 nor NaN.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

TEXT = "text/plain; version=0.0.4"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
LINES_AT_ONCE = 1000
# In both formats the same three characters are escaped in a label's value.
ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True)
class Family:
    """A gauge: `samples` are the values of `labels`, in order, with the number."""

    name: str
    help: str
    labels: Sequence[str]
    samples: Iterable[tuple[Sequence[str], float]]


def exposition(families: Iterable[Family], *, ends: bool) -> Iterator[str]:
    """Text in pieces. `ends` writes OpenMetrics' last line, without which that format counts as cut off."""
    lines: list[str] = []
    for family in families:
        for line in _lines(family):
            lines.append(line)
            if len(lines) >= LINES_AT_ONCE:
                yield "".join(lines)
                lines = []
    if ends:
        lines.append("# EOF\n")
    if lines:
        yield "".join(lines)


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help.translate(ESCAPES)}\n# TYPE {family.name} gauge\n"
    for values, number in family.samples:
        pairs = zip(family.labels, values, strict=True)
        labels = ",".join(f'{label}="{value.translate(ESCAPES)}"' for label, value in pairs)
        yield f"{family.name}{{{labels}}} {_number(number)}\n" if labels else f"{family.name} {_number(number)}\n"


def _number(number: float) -> str:
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a measurement: what is not known must be left out")
    return repr(number)
