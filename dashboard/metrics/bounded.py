"""How many series a family may have: what is beyond is not written, and counted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from .exposition import Family, Labels

NAME = "consumerscope_series_left_out"


@dataclass
class Bounds:
    """Families pass through as they are written; `left_out` comes last and tells what was left out of them."""

    most: int
    beyond: dict[str, int] = field(default_factory=dict)

    def bounded(self, families: Iterable[Family], most: int | None = None) -> Iterator[Family]:
        for family in families:
            yield replace(family, samples=self._first(family, self.most if most is None else most))

    def left_out(self) -> Family:
        return Family(
            NAME, "Series that are left out of a family because it may have no more.", ("family",),
            (((name,), count) for name, count in self.beyond.items()),
        )  # fmt: skip

    def _first(self, family: Family, most: int) -> Iterator[tuple[Labels, float]]:
        for place, sample in enumerate(family.samples):
            if place < most:
                yield sample
            else:
                self.beyond[family.name] = self.beyond.get(family.name, 0) + 1
