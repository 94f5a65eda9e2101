"""Subjects that never hold over the range: how often they are known is counted, and they are not walked through."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from .days import DAY_US


@dataclass(frozen=True)
class Calm:
    """`known`: how many values of the subject at a place are known, and `known_on` on a day (see days.day_number).

    `known_at`: the moments, in microseconds since 1970, at which a value of any of them is known.
    """

    known: Mapping[int, int] = field(default_factory=dict)
    known_on: Mapping[int, int] = field(default_factory=dict)
    known_at: frozenset[int] = frozenset()

    def and_of(self, other: "Calm") -> "Calm":
        """With those of other subjects."""
        return Calm(
            {**self.known, **other.known},
            Counter(self.known_on) + Counter(other.known_on),
            self.known_at | other.known_at,
        )


def calm_of_spans(spans: Iterable[tuple[int, int, int]], moments: Sequence[int]) -> Calm:
    """`spans`: place, from_us and to_us, within which it is known at all of `moments`, which are in order."""
    known: Counter[int] = Counter()
    changes = [0] * (len(moments) + 1)
    for place, begin, end in spans:
        first, last = bisect_left(moments, begin), bisect_left(moments, end)
        if first < last:
            known[place] += last - first
            changes[first] += 1
            changes[last] -= 1
    counted = [(at, count) for at, count in zip(moments, accumulate(changes), strict=False) if count]
    on_days: Counter[int] = Counter()
    for at, count in counted:
        on_days[at // DAY_US] += count
    return Calm(known, on_days, frozenset(at for at, _count in counted))
