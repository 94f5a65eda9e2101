"""One line of the bench: ours beside another, measured in the same run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """`ratio` is how many times less ours took than what it stands beside."""

    name: str
    ours: float
    ours_unit: str
    beside: str
    beside_value: float
    ratio: float
    note: str
