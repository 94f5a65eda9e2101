"""What a rule is: a name for people, the state it gives, when it holds, and the numbers it looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column


@dataclass(frozen=True)
class Rule:
    """`since_us`: when the state began, where the rule has evidence of it; else it counts from when first judged."""

    name: str
    state: str
    holds: Column
    detail: Mapping[str, Column] = field(default_factory=dict)
    since_us: Column | None = None
    is_provisional: bool = False
