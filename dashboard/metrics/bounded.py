"""How many series a family may have: what is beyond is not written, and counted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from .exposition import Family, Labels

NAME = "consumerscope_series_left_out"

Sample = tuple[Labels, float]


@dataclass
class Bounds:
    """Families pass through as they are written; `left_out` comes last and tells what was left out of them."""

    most: int
    beyond: dict[str, int] = field(default_factory=dict)

    def bounded(self, families: Iterable[Family], most: int | None = None) -> Iterator[Family]:
        for family in families:
            yield replace(family, samples=self._first(family, self.most if most is None else most))

    def kept(self, name: str, samples: Iterable[Sample], most: int) -> list[Sample]:
        """The first of them, where all are read before any is written."""
        kept: list[Sample] = []
        for sample in samples:
            if len(kept) < most:
                kept.append(sample)
            else:
                self._leave_out(name)
        return kept

    def left_out(self) -> Family:
        words = "Series that are left out of a family because it may have no more."
        return Family(NAME, words, ("family",), self._counts())

    def _counts(self) -> Iterator[Sample]:
        for name, count in self.beyond.items():
            yield (name,), count

    def _leave_out(self, name: str) -> None:
        self.beyond[name] = self.beyond.get(name, 0) + 1

    def _first(self, family: Family, most: int) -> Iterator[Sample]:
        samples = iter(family.samples)
        yield from islice(samples, most)
        for _ in samples:
            self._leave_out(family.name)
