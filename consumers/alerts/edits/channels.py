"""Channels, written and removed. What is said of it in the log names no address."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from consumers.alerts.channels.settings_of import checked_channel
from consumers.alerts.channels.store import saved
from consumers.jobs.audit import note
from consumers.models import Channel


@transaction.atomic
def keep_channel(fields: Mapping[str, Any], channel: Channel | None, by: Any, now: datetime) -> Channel:
    """`channel` with `fields`, see `checked_channel`; one more where it is None. Raises ChannelRefused."""
    kept = saved(checked_channel(fields, channel), channel, by, now)
    sentence = f"Changed {', '.join(sorted(fields)) or 'nothing'}." if channel else "Made the channel."
    note(kept, kept.name, by, sentence, now)
    return kept


@transaction.atomic
def remove_channel(channel: Channel, by: Any, now: datetime) -> None:
    """With its messages: what waits is told to nobody through it."""
    note(channel, channel.name, by, "Removed the channel.", now)
    channel.delete()
