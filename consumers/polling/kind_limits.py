"""How long a condition must last before a group is of a kind. Plain numbers: no database is needed."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KindLimits:
    retired_after_seconds: float = 600
    ghost_after_seconds: float = 7 * 86400
    habit_days: float = 7
    habit_offline_share: float = 0.5
    # The greatest age of a complete answer about members. Members are asked in turn, under a budget.
    evidence_seconds: float = 900
    # How much later than an answer without members the last commit, and the reading that sees it, may come.
    unlisted_after_seconds: float = 60

    @classmethod
    def of(cls, kinds: Mapping[str, float]) -> "KindLimits":
        """From the settings; other names are ignored."""
        return cls(**{name: kinds[name] for name in cls.__dataclass_fields__ if name in kinds})
