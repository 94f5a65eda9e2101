"""The text format of metrics, and how many series it may hold."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import isfinite

# Writes metrics as text that Prometheus reads: its own format 0.0.4, or OpenMetrics 1.0.0.
#
# All samples of a family stand together, as both formats demand. What is not known is no sample: neither 0 nor NaN.
TEXT = "text/plain; version=0.0.4"

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"

LINES_AT_ONCE = 1000

UNITS = ("seconds", "bytes", "messages", "queues", "calls", "series", "groups")

# The values in the order of their names, null for a label that is left out; or their text, made once for many samples.
Labels = tuple[str | None, ...] | str

Samples = Iterable[tuple[Labels, float]]


@dataclass(frozen=True)
class Family:
    """A gauge: `samples` are the values of `labels`, or what `label_text` makes of them, with the number."""

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
    lines: list[str] = [f"# {escaped(remark)}\n"] if remark and not open_metrics else []
    for family in families:
        lines.append(_head(family, open_metrics))
        samples = iter(family.samples)
        while some := list(islice(samples, LINES_AT_ONCE)):
            lines += _lines(family, some)
            if len(lines) >= LINES_AT_ONCE:
                yield "".join(lines)
                lines.clear()
    if open_metrics:
        lines.append("# EOF\n")
    if lines:
        yield "".join(lines)


def _lines(family: Family, samples: Sequence[tuple[Labels, float]]) -> list[str]:
    wrong = [number for _, number in samples if not isfinite(number)]
    if wrong:
        raise ValueError(f"{wrong[0]} is not a measurement: what is not known must be left out")
    name, names = family.name, family.labels
    if not names:
        return [f"{name} {number!r}\n" for _, number in samples]
    return [
        f"{name}{{{labels if isinstance(labels, str) else label_text(names, labels)}}} {number!r}\n"
        for labels, number in samples
    ]


def label_text(names: Sequence[str], values: Sequence[str | None]) -> str:
    """`name="value"` of each that has a value, by commas."""
    return ",".join(
        [f'{name}="{escaped(value)}"' for name, value in zip(names, values, strict=True) if value is not None]
    )


def escaped(text: str) -> str:
    """In both formats the same three characters are escaped in a label's value."""
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _head(family: Family, open_metrics: bool) -> str:
    unit = f"# UNIT {family.name} {family.unit}\n" if open_metrics and family.unit else ""
    return f"# HELP {family.name} {escaped(family.help)}\n# TYPE {family.name} gauge\n{unit}"


# How many series a family may have: what is beyond is not written, and counted.
NAME = "consumerscope_series_left_out"

Sample = tuple[Labels, float]


@dataclass
class Bounds:
    """Families pass through as they are written. `left_out` comes last and reports what was left out of them."""

    most: int
    beyond: dict[str, int] = field(default_factory=dict)

    def bounded(self, families: Iterable[Family], most: int | None = None) -> Iterator[Family]:
        for family in families:
            yield replace(family, samples=self._first(family, self.most if most is None else most))

    def kept(self, name: str, samples: Iterable[Sample], most: int) -> list[Sample]:
        """The first of them, where all are read before any is written."""
        within: list[Sample] = []
        for sample in samples:
            if len(within) < most:
                within.append(sample)
            else:
                self.leave_out(name)
        return within

    def left_out(self) -> Family:
        words = "Series that are left out of a family because it may have no more."
        return Family(NAME, words, ("family",), self._counts())

    def _counts(self) -> Iterator[Sample]:
        for name, count in self.beyond.items():
            yield (name,), count

    def leave_out(self, name: str, count: int = 1) -> None:
        if count:
            self.beyond[name] = self.beyond.get(name, 0) + count

    def _first(self, family: Family, most: int) -> Iterator[Sample]:
        samples = iter(family.samples)
        yield from islice(samples, most)
        for _ in samples:
            self.leave_out(family.name)
