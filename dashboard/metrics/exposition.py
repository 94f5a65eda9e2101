"""Writes metrics as text that Prometheus reads: its own format 0.0.4, or OpenMetrics 1.0.0.

All samples of a family stand together, as both formats demand. What is not known is no sample: neither 0 nor NaN.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

TEXT = "text/plain; version=0.0.4"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
LINES_AT_ONCE = 1000
# In both formats the same three characters are escaped in a label's value.
ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
UNITS = ("seconds", "bytes", "messages", "queues", "calls", "series", "groups")

Labels = tuple[str | None, ...]
Samples = Iterable[tuple[Labels, float]]


@dataclass(frozen=True)
class Family:
    """A gauge: `samples` are the values of `labels`, in order, with the number. A label without a value is left out."""

    name: str
    help: str
    labels: Sequence[str]
    samples: Samples

    @property
    def unit(self) -> str | None:
        """By the name's end, as OpenMetrics demands; names that are others' have none."""
        return next((unit for unit in UNITS if self.name.endswith(f"_{unit}")), None)


def exposition(families: Iterable[Family], *, open_metrics: bool = False, remark: str = "") -> Iterator[str]:
    """Text in pieces. OpenMetrics has units, no `remark`, and a last line without which it counts as cut off."""
    lines: list[str] = [f"# {remark}\n"] if remark and not open_metrics else []
    # Most families have the same labels as the one before: their text is made once.
    known: dict[tuple[str, ...], dict[Labels, str]] = {}
    for family in families:
        lines.append(_head(family, open_metrics))
        texts, name = known.setdefault(tuple(family.labels), {}), family.name
        for values, number in family.samples:
            if not isfinite(number):
                raise ValueError(f"{number} is not a measurement: what is not known must be left out")
            text = texts.get(values)
            if text is None:
                text = texts[values] = _labels(family.labels, values)
            lines.append(f"{name}{text} {number!r}\n")
            if len(lines) >= LINES_AT_ONCE:
                yield "".join(lines)
                lines.clear()
    if open_metrics:
        lines.append("# EOF\n")
    if lines:
        yield "".join(lines)


def _head(family: Family, open_metrics: bool) -> str:
    unit = f"# UNIT {family.name} {family.unit}\n" if open_metrics and family.unit else ""
    return f"# HELP {family.name} {family.help.translate(ESCAPES)}\n# TYPE {family.name} gauge\n{unit}"


def _labels(labels: Sequence[str], values: Labels) -> str:
    pairs = [
        f'{label}="{value.translate(ESCAPES)}"'
        for label, value in zip(labels, values, strict=True)
        if value is not None
    ]
    return f"{{{','.join(pairs)}}}" if pairs else ""
