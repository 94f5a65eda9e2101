"""What people do with incidents."""

from datetime import datetime
from typing import Any

from consumers.models import Incident

from .refused import AlertRefused  # noqa: F401


def acknowledge(incident: Incident, by: Any, text: str, now: datetime) -> None:
    """Raises AlertRefused."""
    raise NotImplementedError


def unacknowledge(incident: Incident, by: Any, now: datetime) -> None:
    """Raises AlertRefused."""
    raise NotImplementedError
