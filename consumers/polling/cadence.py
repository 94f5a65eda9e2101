"""How often slow things are asked, and how many calls min offsets may cost a reading."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cadence:
    config_seconds: float
    min_offset_seconds: float
    min_offset_calls: int = 500
