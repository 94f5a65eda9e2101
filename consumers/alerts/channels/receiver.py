"""The sealed part of a channel (its address and secrets), and removal of these secrets from texts.

Texts need this because receivers and libraries often repeat what was sent to them.
"""

import base64
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from uuid import UUID

from consumers.alerts.channels.kinds.sending import Outcome
from consumers.models import Channel, ChannelKind
from consumers.models.channels import SEVERAL
from consumers.polling.registration import OF_CHANNELS, SecretNotReadable, seal, unseal
from consumers.vocabulary.alerts import DeliveryResult
from consumers.vocabulary.reasons import reasons_in, stored_reason, stored_reasons

from .kinds.apprise import OWN_SCHEMAS
from .kinds.channel_kind import ChannelKindSpec, SealedFields

# The registry of channel kinds: each code names the module in `kinds/` that declares it.

CHANNEL_KINDS: dict[ChannelKind, ChannelKindSpec] = {
    code: import_module(f"{__package__}.kinds.{code}").KIND for code in ChannelKind
}


def kind_of(code: str) -> ChannelKindSpec:
    return CHANNEL_KINDS[ChannelKind(code)]


class ChannelNotReadable(Exception):
    """The sealed settings of a channel cannot be decrypted; str() is a stored reason."""


def sealed(fields: SealedFields, site_key: str) -> str:
    return seal(json.dumps(fields), site_key, OF_CHANNELS)


def sealed_fields(channel: Channel, site_key: str) -> SealedFields:
    """The decrypted settings of a channel. Raises ChannelNotReadable."""
    try:
        fields: SealedFields = json.loads(unseal(channel.sealed, site_key, OF_CHANNELS))
    except SecretNotReadable:
        why = stored_reason(DeliveryResult.SETTINGS_UNREADABLE, channel=channel.name)
        raise ChannelNotReadable(why) from None
    return fields


INSTEAD = "•••"
LONGEST_SHOWN = 300
# Shorter secrets are not removed: that would mangle ordinary words, and such a secret protects nothing.
SHORTEST = 4


def scrubbed_answer(answer: str, sealed: SealedFields, *others: str) -> str:
    """A stored reason that is safe to store. Secrets are removed before a text is cut, so that no half of one
    remains.
    """
    return _safe(answer, [*secrets_in(sealed), *others])


def _safe(stored: str, secrets: list[str]) -> str:
    reasons = reasons_in(stored)
    if reasons == [stored]:
        text = scrubbed(stored, secrets)
        return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
    return stored_reasons([_safe_reason(one, secrets) for one in reasons])


def _safe_reason(reason: Mapping[str, Any] | str, secrets: list[str]) -> str:
    if isinstance(reason, str):
        return _safe(reason, secrets)
    values = {name: _safe(one, secrets) if isinstance(one, str) else one for name, one in reason.items()}
    return stored_reason(**{**values, "code": reason["code"]})


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets. Longer secrets are removed first, so that no half of one remains."""
    for form in sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True):
        text = text.replace(form, INSTEAD)
    return text


def _forms(secret: str) -> set[str]:
    """A secret as plain text, and as URLs, JSON and headers encode it."""
    plain = {secret, unquote(secret), quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1]}
    plain.add(base64.b64encode(secret.encode()).decode())
    return {form for form in plain if len(form) >= SHORTEST}


def secrets_in(sealed: SealedFields) -> list[str]:
    """Every sealed text and each part of a sealed URL. Lists are left out: these are e-mail addresses, which are shown
    anyway.
    """
    found = []
    for name, value in sealed.items():
        if isinstance(value, list) or not value:
            continue
        texts = list(value.values()) if isinstance(value, dict) else [value]
        found += [*texts, *(_pieces(value) if name == "url" else [])]
    if sealed.get("username"):
        found.append(f"{sealed['username']}:{sealed.get('password', '')}")
        found.remove(sealed["username"])
    return found


def _pieces(url: str) -> list[str]:
    """All parts of a URL except the host. Services without a host of their own may put a token there: then the host
    too.
    """
    scheme, _, behind = url.partition("://")
    has_host = scheme.lower() in ("http", "https", *OWN_SCHEMAS)
    host = urlsplit(url).hostname if has_host else None
    for sign in "/?&=@:":
        behind = behind.replace(sign, " ")
    return [piece for piece in behind.split() if piece.lower() != host]


# State of a channel's receiver: when to retry it, and how long to pause. Pure.
#
# One refused message says little about the receiver and delays no other message. A receiver that is unreachable, asks
# for time, or refuses several messages is paused, so that the queue is not used up by failing attempts.

FIRST_SECONDS = 5.0
# On-call staff are notified within a minute of the receiver's return.
LONGEST_SECONDS = 60.0
# The longest pause that a receiver may ask for.
LONGEST_RETRY_AFTER_SECONDS = 3600.0
SPREAD = 0.25
LONGEST_PAUSE = timedelta(seconds=LONGEST_SECONDS * (1 + SPREAD))
LONGEST_HOLD = timedelta(seconds=LONGEST_RETRY_AFTER_SECONDS)


def pause_after(attempts: int, delivery_id: UUID, retry_after_seconds: float | None = None) -> timedelta:
    """After so many attempts (from 1): 5 s, doubling up to a minute, each longer by up to a quarter.

    The added part follows from the id, so that many channels with the same receiver do not all retry at once.
    """
    doubled = min(FIRST_SECONDS * 2.0 ** min(attempts - 1, 30), LONGEST_SECONDS)
    seconds = doubled * (1 + SPREAD * (delivery_id.int % 1009) / 1009)
    retry_after = min(retry_after_seconds or 0.0, LONGEST_RETRY_AFTER_SECONDS)
    return timedelta(seconds=max(seconds, retry_after))


def is_held(until: datetime | None, now: datetime) -> bool:
    """No hold is longer than LONGEST_HOLD. A longer one was recorded by a clock that was set back since."""
    return until is not None and now < until <= now + LONGEST_HOLD


COLUMNS = ("failures", "failing_since", "failing_why", "held_until")


def note_outcome(channel: Channel, outcome: Outcome, spread: UUID, now: datetime) -> bool:
    """Sets the COLUMNS of `channel`. Returns whether the receiver is back: it had been given up, and has now taken a
    message.
    """
    if outcome.ok:
        is_back = channel.failures >= SEVERAL
        begin_anew(channel)
        return is_back
    channel.failures += 1
    channel.failing_since = channel.failing_since or now
    channel.failing_why = outcome.answer
    leaves_alone = outcome.is_away or outcome.asks_for_time
    if leaves_alone or channel.failures >= SEVERAL:
        holds = channel.failures if leaves_alone else channel.failures - SEVERAL + 1
        channel.held_until = now + pause_after(holds, spread, outcome.retry_after_seconds)
    return False


def begin_anew(channel: Channel) -> None:
    """Resets the receiver's state: no failure is known."""
    channel.failures, channel.failing_since, channel.failing_why, channel.held_until = 0, None, None, None
