"""Checks of fields that address a channel: what is sealed comes back, or `WrongValue` says what is allowed."""

import re
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from consumers.alerts.rules.fields import text
from consumers.alerts.rules.refused import Check, WrongValue
from consumers.models import ChannelKind

from .addresses import WrongAddress
from .apprise_services import checked_apprise_url
from .urls import parsed_url

MOST_RECIPIENTS = 20
MOST_HEADERS = 10
SHORTEST_SECRET = 16
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# Those that say where a request ends or what it is, and those that are ours.
OWN_HEADERS = re.compile(
    r"(?i)host|content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|consumerscope-.*"
)
PRINTABLE = re.compile(r"[\x20-\x7e]*")


def http_url(value: Any) -> str:
    said = str(text(2000, required=True)(value))
    try:
        parsed_url(said)
    except WrongAddress as wrong:
        raise WrongValue(str(wrong)) from None
    return said


def alertmanager_url(value: Any) -> str:
    said = http_url(value).rstrip("/")
    if "?" in said or said.endswith("/api/v2/alerts"):
        raise WrongValue("Enter Alertmanager's own address, as http://alertmanager:9093, without /api/v2/alerts.")
    return said


def apprise_url(value: Any) -> str:
    return checked_apprise_url(str(text(2000, required=True)(value)))


def signing_secret(value: Any) -> str:
    said = _private(value)
    if len(said) < SHORTEST_SECRET:
        raise WrongValue(f"A secret that signs has at least {SHORTEST_SECRET} characters: openssl rand -hex 32.")
    return said


def password(value: Any) -> str:
    return "" if value is None else _private(value)


def user_name(value: Any) -> str:
    said = password(value)
    if ":" in said:
        raise WrongValue("A user name of HTTP has no ':'.")
    return said


def _private(value: Any) -> str:
    """Of what may stand in a header."""
    if not isinstance(value, str) or len(value) > 1000 or not PRINTABLE.fullmatch(value):
        raise WrongValue("It is text of at most 1000 characters of ASCII, without control characters.")
    return value


def headers(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > MOST_HEADERS:
        raise WrongValue(f'It is an object of at most {MOST_HEADERS} headers, as {{"X-Team": "payments"}}.')
    for name, said in value.items():
        if not isinstance(name, str) or not HEADER_NAME.fullmatch(name) or OWN_HEADERS.fullmatch(name):
            raise WrongValue(
                "A header's name has letters, digits and '-'; those that frame a request are Consumerscope's."
            )
        if not isinstance(said, str) or len(said) > 1000 or not PRINTABLE.fullmatch(said) or not said.strip():
            raise WrongValue(f"The value of {name} is text of 1 to 1000 characters of ASCII.")
    return {str(name): str(said) for name, said in value.items()}


def recipients(value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_RECIPIENTS:
        raise WrongValue(f"It is a list of 1 to {MOST_RECIPIENTS} addresses of e-mail.")
    found = []
    for one in value:
        try:
            said = str(text(254, required=True)(one))
            validate_email(said)
        except (ValidationError, WrongValue):
            raise WrongValue(f"{ascii(one)[:100]} is not an address of e-mail.") from None
        found.append(said)
    return list(dict.fromkeys(found))


ADDRESS_CHECKS: dict[ChannelKind, dict[str, Check]] = {
    ChannelKind.WEBHOOK: {"url": http_url, "secret": signing_secret, "headers": headers},
    ChannelKind.ALERTMANAGER: {
        "url": alertmanager_url,
        "username": user_name,
        "password": password,
        "token": password,
    },
    ChannelKind.EMAIL: {"recipients": recipients},
    ChannelKind.APPRISE: {"url": apprise_url},
}
# What must be given, and what is absent if it is not.
REQUIRED: dict[ChannelKind, tuple[str, ...]] = {
    ChannelKind.WEBHOOK: ("url", "secret"),
    ChannelKind.ALERTMANAGER: ("url",),
    ChannelKind.EMAIL: ("recipients",),
    ChannelKind.APPRISE: ("url",),
}
ABSENT: dict[str, Any] = {"headers": {}, "username": "", "password": "", "token": ""}
# What is sent along to wherever the URL leads.
SENT_ALONG = ("headers", "username", "password", "token")
