"""What is sealed in a channel: its address and whatever goes with it."""

import json
from typing import Any

from consumers.models import Channel
from consumers.polling.registration import OF_CHANNELS, SecretNotReadable, seal, unseal

# By kind, as `checked_channel` names the fields.
Told = dict[str, Any]


class ChannelNotReadable(Exception):
    """str() is one sentence."""


def sealed(told: Told, site_key: str) -> str:
    return seal(json.dumps(told), site_key, OF_CHANNELS)


def told_of(channel: Channel, site_key: str) -> Told:
    """Raises ChannelNotReadable."""
    try:
        told: Told = json.loads(unseal(channel.sealed, site_key, OF_CHANNELS))
    except SecretNotReadable:
        raise ChannelNotReadable(
            f"The address of {channel.name} was stored under another CONSUMERSCOPE_SECRET_KEY: enter it again, with "
            "its secrets, or set the old key."
        ) from None
    return told
