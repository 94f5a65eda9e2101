"""What is sealed of a channel: its address and the secrets beside it; and how texts are kept free of both.

Receivers and libraries like to repeat what they were sent.
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
    """str() is one sentence."""


def sealed(fields: SealedFields, site_key: str) -> str:
    return seal(json.dumps(fields), site_key, OF_CHANNELS)


def sealed_fields(channel: Channel, site_key: str) -> SealedFields:
    """Raises ChannelNotReadable."""
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
# Shorter ones would take letters out of every sentence, and keep nobody out either.
SHORTEST = 4


def scrubbed_answer(answer: str, sealed: SealedFields, *others: str) -> str:
    """An answer that may be stored: cut only after its secrets are taken out, so that no half of one is left."""
    text = scrubbed(answer, [*secrets_in(sealed), *others])
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """The longest are taken out first, so that no half of one is left."""
    for form in sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True):
        text = text.replace(form, INSTEAD)
    return text


def _forms(secret: str) -> set[str]:
    """As it is, as parts of URLs, JSON and headers have it."""
    plain = {secret, unquote(secret), quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1]}
    plain.add(base64.b64encode(secret.encode()).decode())
    return {form for form in plain if len(form) >= SHORTEST}


def secrets_in(sealed: SealedFields) -> list[str]:
    """Every text that is sealed and each part of a URL; addresses of e-mail, the only lists, are shown anyway."""
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
    """All but the host; of services that have no host of people's own, a token may stand there: then that too."""
    scheme, _, behind = url.partition("://")
    has_host = scheme.lower() in ("http", "https", *OWN_SCHEMAS)
    host = urlsplit(url).hostname if has_host else None
    for sign in "/?&=@:":
        behind = behind.replace(sign, " ")
    return [piece for piece in behind.split() if piece.lower() != host]
