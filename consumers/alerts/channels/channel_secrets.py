"""The sealed part of a channel (its address and secrets), and removal of these secrets from texts.

Texts need this because receivers and libraries often repeat what was sent to them.
"""

import base64
import json
from collections.abc import Iterable
from urllib.parse import quote, unquote, urlsplit

from consumers.models import Channel
from consumers.polling.registration import OF_CHANNELS, SecretNotReadable, seal, unseal

from .kinds.apprise_services import OWN_SCHEMAS
from .kinds.channel_kind import SealedFields


class ChannelNotReadable(Exception):
    """The sealed settings of a channel cannot be decrypted; str() is one sentence."""


def sealed(fields: SealedFields, site_key: str) -> str:
    return seal(json.dumps(fields), site_key, OF_CHANNELS)


def sealed_fields(channel: Channel, site_key: str) -> SealedFields:
    """The decrypted settings of a channel. Raises ChannelNotReadable."""
    try:
        fields: SealedFields = json.loads(unseal(channel.sealed, site_key, OF_CHANNELS))
    except SecretNotReadable:
        raise ChannelNotReadable(
            f"The address of {channel.name} was stored under another CONSUMERSCOPE_SECRET_KEY: enter it again, with "
            "its secrets, or set the old key."
        ) from None
    return fields


INSTEAD = "•••"
LONGEST_SHOWN = 300
# Shorter secrets are not removed: that would mangle ordinary words, and such a secret protects nothing.
SHORTEST = 4


def scrubbed_answer(answer: str, sealed: SealedFields, *others: str) -> str:
    """An answer that is safe to store. Secrets are removed before the text is cut, so that no half of one remains."""
    text = scrubbed(answer, [*secrets_in(sealed), *others])
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


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
