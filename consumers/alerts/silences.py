"""Silences: made with a reason and an end, and ended early."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from consumers.models import Silence

from .refused import AlertRefused  # noqa: F401


def make(fields: Mapping[str, Any], by: Any, now: datetime) -> Silence:
    """`fields`: reason, ends_at, and any of starts_at, cluster, group_pattern, topic, rule (a row), labels.

    Raises AlertRefused, with a sentence for each field that is wrong.
    """
    raise NotImplementedError


def end(silence: Silence, by: Any, now: datetime) -> None:
    """Raises AlertRefused."""
    raise NotImplementedError
