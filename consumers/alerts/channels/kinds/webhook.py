"""A signed POST of the unchanged payload."""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext, gettext_lazy as _

from consumers.alerts.fields import EntryField, Shape, WrongValue
from consumers.models import ChannelKind, Delivery

from .channel_kind import PRINTABLE, ChannelKindSpec, SealedFields, header_text, http_url, origin_of
from .sending import Means, Outcome, posted

SIGNED_BY = "v1"
MOST_HEADERS = 10
SHORTEST_SECRET = 16
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# Headers that frame or describe a request, and headers that Consumerscope sets itself.
OWN_HEADERS = re.compile(
    r"(?i)host|content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|consumerscope-.*"
)


def send(fields: SealedFields, delivery: Delivery, now: datetime, means: Means) -> Outcome:
    content = json.dumps(delivery.payload, ensure_ascii=False, separators=(",", ":")).encode()
    stamp = str(int(now.timestamp()))
    headers = {
        **fields["headers"],
        "Content-Type": "application/json",
        "User-Agent": "Consumerscope",
        "Consumerscope-Delivery": str(delivery.pk),
        "Consumerscope-Timestamp": stamp,
        "Consumerscope-Signature": signature(fields["secret"], stamp, content),
    }
    return posted(fields["url"], content, headers, means)


def signature(secret: str, stamp: str, content: bytes) -> str:
    """The signature covers the time too, so that an intercepted message cannot be replayed later."""
    signed = hmac.new(secret.encode(), stamp.encode() + b"." + content, hashlib.sha256)
    return f"{SIGNED_BY}={signed.hexdigest()}"


def signing_secret(value: Any) -> str:
    entered = header_text(value)
    if len(entered) < SHORTEST_SECRET:
        raise WrongValue(
            gettext("A signing secret needs at least %s characters: openssl rand -hex 32.") % SHORTEST_SECRET
        )
    return entered


def headers(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > MOST_HEADERS:
        raise WrongValue(
            gettext('Must be an object of at most %s headers, such as {"X-Team": "payments"}.') % MOST_HEADERS
        )
    for name, content in value.items():
        if not isinstance(name, str) or not HEADER_NAME.fullmatch(name) or OWN_HEADERS.fullmatch(name):
            raise WrongValue(
                gettext(
                    "A header name may contain letters, digits and '-'. Consumerscope itself sets the headers that "
                    "frame a request."
                )
            )
        if (
            not isinstance(content, str)
            or len(content) > 1000
            or not PRINTABLE.fullmatch(content)
            or not content.strip()
        ):
            raise WrongValue(gettext("The value of %s must be 1 to 1000 ASCII characters.") % name)
    return {str(name): str(content) for name, content in value.items()}


KIND = ChannelKindSpec(
    code=ChannelKind.WEBHOOK,
    label=_("webhook"),
    has_templates=False,
    send=send,
    target=origin_of,
    fields=(
        EntryField(
            name="url",
            shape=Shape.TEXT,
            check=http_url,
            label=_("Address"),
            hint=_("https://… or http://…; receives messages as JSON by POST"),
        ),
        EntryField(
            name="secret",
            shape=Shape.PASSWORD,
            check=signing_secret,
            is_secret=True,
            label=_("Signing secret"),
            hint=_("at least 16 characters; the receiver checks signatures with it"),
            made=lambda: secrets.token_hex(32),
            help_text="it signs",
        ),
        EntryField(
            name="headers",
            shape=Shape.HEADERS,
            check=headers,
            default={},
            is_secret=True,
            is_sent_along=True,
            label=_("Extra headers"),
            hint=_("X-Team: payments, one per line"),
            help_text="sent along",
        ),
    ),
)
