"""What of a group waits on which delay level, when it comes back, and what of it dies if it fails once more."""

from datetime import datetime

from .ladder_rows import Ladder


def ladder_of(cluster: str, group: str, now: datetime) -> Ladder:
    """Raises ConsumerGroup.DoesNotExist."""
    raise NotImplementedError
