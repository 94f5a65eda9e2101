"""Takes secrets out of what is kept or shown: receivers and libraries like to repeat what they were sent."""

import base64
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from .apprise_services import OWN_SCHEMAS

INSTEAD = "•••"
LONGEST_SHOWN = 300
# Shorter ones would take letters out of every sentence, and keep nobody out either.
SHORTEST = 4


def shown(answer: str, told: dict[str, Any], *others: str) -> str:
    """What was answered, as it may be kept: cut only when no secret can be cut in two any more."""
    text = scrubbed(answer, [*secrets_in(told), *others])
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


def secrets_in(told: dict[str, Any]) -> list[str]:
    """Every text in what was sealed, but for what is shown anyway, and each part of a URL."""
    found = []
    for name, value in told.items():
        if name == "recipients" or not value:
            continue
        texts = list(value.values()) if isinstance(value, dict) else [value]
        found += [*texts, *(_pieces(value) if name == "url" else [])]
    if told.get("username"):
        found.append(f"{told['username']}:{told.get('password', '')}")
        found.remove(told["username"])
    return found


def _pieces(url: str) -> list[str]:
    """All but the host; of services that have no host of people's own, a token may stand there: then that too."""
    scheme, _, behind = url.partition("://")
    has_host = scheme.lower() in ("http", "https", *OWN_SCHEMAS)
    host = urlsplit(url).hostname if has_host else None
    for sign in "/?&=@:":
        behind = behind.replace(sign, " ")
    return [piece for piece in behind.split() if piece.lower() != host]
