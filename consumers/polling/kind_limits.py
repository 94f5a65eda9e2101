"""How long things take before a group is of a kind: plain numbers, so that no database is needed to know them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KindLimits:
    retired_after_seconds: float = 600
    ghost_after_seconds: float = 7 * 86400
    habit_days: float = 7
    habit_offline_share: float = 0.5
    # How old a full answer about members may be: they are asked in turn, under a budget.
    evidence_seconds: float = 900
    # A last commit, and the reading that sees it, may come so long after the answer that lists no member.
    unlisted_after_seconds: float = 60

    @classmethod
    def of(cls, kinds: Mapping[str, float]) -> "KindLimits":
        """From the settings; names that concern others are passed over."""
        return cls(**{name: kinds[name] for name in cls.__dataclass_fields__ if name in kinds})
