"""Where a channel is to send: what was entered of it, together with what is sealed already."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from consumers.alerts.rules.refused import checked_fields
from consumers.models import Channel, ChannelKind

from .apprise_services import service_of
from .entered import ABSENT, ADDRESS_CHECKS, REQUIRED, SENT_ALONG
from .secrets_of import ChannelNotReadable, Told, told_of
from .urls import parsed_url

LONGEST_TARGET = 300
OF_ADDRESS = {name for checks in ADDRESS_CHECKS.values() for name in checks}


def of_kind(kind: ChannelKind, entered: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Forms have fields of all kinds: those of others must be empty."""
    own = {name: value for name, value in entered.items() if name in ADDRESS_CHECKS[kind]}
    foreign = [name for name, value in entered.items() if name not in own and value not in (None, "", [], {})]
    return own, {name: f"A channel of kind {kind} has no {name}." for name in foreign}


def checked_address(
    kind: ChannelKind, entered: Mapping[str, Any], channel: Channel | None
) -> tuple[Told, dict[str, str]]:
    """What is to be sealed, and a sentence for each field that is wrong. What is not entered is as in `channel`."""
    checks = ADDRESS_CHECKS[kind]
    values, errors = checked_fields(entered, checks)
    before: Told = {}
    if channel is not None and not set(checks) <= set(entered):
        try:
            before = told_of(channel, settings.SECRET_KEY)
        except ChannelNotReadable as error:
            return {}, errors | {REQUIRED[kind][0]: str(error)}
    told = {name: ABSENT.get(name) for name in checks} | before | values
    errors |= {name: "It must be given." for name in REQUIRED[kind] if not told[name] and name not in errors}
    if not errors:
        errors = _together(told, before, values)
    return told, errors


def _together(told: Told, before: Told, values: Told) -> dict[str, str]:
    """Who may change an address must not learn by that what was entered for the one before."""
    kept = [name for name in SENT_ALONG if before.get(name) and name not in values]
    if kept and parsed_url(told["url"]).origin != parsed_url(before["url"]).origin:
        return {"url": f"This is another host: enter {' and '.join(kept)} again, or empty, as they are sent there."}
    if told.get("token") and (told["username"] or told["password"]):
        return {"token": "Enter either a token or a user name with its password."}
    if told.get("password") and not told["username"]:
        return {"username": "A password has a user name."}
    return {}


def target_of(kind: ChannelKind, told: Told) -> str:
    """Where it goes, in words that hold no secret. Raises WrongValue."""
    if kind == ChannelKind.EMAIL:
        said = ", ".join(told["recipients"])
        return said if len(said) <= LONGEST_TARGET else f"{len(told['recipients'])} addresses"
    if kind == ChannelKind.APPRISE:
        return service_of(told["url"])[:LONGEST_TARGET]
    return parsed_url(told["url"]).origin[:LONGEST_TARGET]
