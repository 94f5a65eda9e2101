"""What may be said of a channel, checked without connecting anywhere. docs/channels.md has every field."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from consumers.alerts.channels.kinds.addresses import WrongAddress
from consumers.alerts.channels.kinds.apprise_services import checked_apprise_url, service_of
from consumers.alerts.channels.kinds.urls import parsed_url
from consumers.alerts.channels.texts.render import template_context
from consumers.alerts.channels.texts.sample import NOBODY, sample_payload
from consumers.alerts.channels.texts.templates import LONGEST_BODY, LONGEST_TITLE, checked_template
from consumers.alerts.refused import AlertRefused
from consumers.alerts.rules import fields as check
from consumers.alerts.rules.fields import text
from consumers.alerts.rules.refused import Check, WrongValue, checked_fields
from consumers.models import AlertRule, Channel, ChannelKind, Severity

from .secrets_of import ChannelNotReadable, Told, sealed, told_of

# Checks of fields that address a channel: what is sealed comes back, or `WrongValue` says what is allowed.

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


# Where a channel is to send: what was entered of it, together with what is sealed already.

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


class ChannelRefused(AlertRefused):
    """`errors`: {field: sentence}. Nothing was changed."""


def _severities(value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not all(one in Severity.values for one in value):
        raise WrongValue(f"It is a list of severities: {', '.join(Severity.values)}.")
    return [severity for severity in Severity.values if severity in value]


def _rules(value: Any) -> list[AlertRule]:
    if not isinstance(value, list | tuple) or not all(type(one) is int for one in value):
        raise WrongValue("It is a list of ids of rules; an empty one is all rules.")
    found = list(AlertRule.objects.filter(pk__in=[one for one in value if 0 < one < 2**63]))
    missing = sorted(set(value) - {rule.pk for rule in found})
    if missing:
        raise WrongValue(f"There is no rule {missing[0]}.")
    return found


def _example() -> dict[str, Any]:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return template_context(sample_payload(NOBODY, 1, Channel(name="example"), "somebody", now), named=1)


COLUMN_CHECKS: dict[str, Check] = {
    "name": check.text(100, required=True),
    "enabled": check.truth,
    "severities": _severities,
    "cluster": check.pattern(100),
    "group_pattern": check.pattern(255),
    "labels": check.labels,
    "rules": _rules,
    "title_template": checked_template(LONGEST_TITLE, _example),
    "body_template": checked_template(LONGEST_BODY, _example),
    "tells_resolved": check.truth,
}
COLUMNS_ABSENT: dict[str, Any] = {
    "enabled": True,
    "severities": [],
    "cluster": "",
    "group_pattern": "",
    "labels": {},
    "rules": [],
    "title_template": "",
    "body_template": "",
    "tells_resolved": True,
}
# Their messages are JSON with a form of its own.
WITHOUT_TEMPLATES = (ChannelKind.WEBHOOK, ChannelKind.ALERTMANAGER)


def checked_channel(fields: Mapping[str, Any], channel: Channel | None = None) -> dict[str, Any]:
    """The columns of a row, `sealed` and `target` among them, and `rules` (a list of AlertRule): for `saved`.

    `fields`: name, kind, enabled, severities [str], cluster, group_pattern, labels {str: str}, rules [id],
    title_template, body_template, tells_resolved; and by kind
    webhook: url, secret, headers {name: value} · alertmanager: url, username and password, or token ·
    email: recipients [address] · apprise: url (of one service).
    A field that is absent stays as it is in `channel`, or has its default; the kind of a channel never changes. Fields
    of another kind may be there if they are empty. Raises ChannelRefused.
    """
    kind = _kind(fields, channel)
    said = {name: value for name, value in fields.items() if name != "kind"}
    entered = {name: said.pop(name) for name in list(said) if name in OF_ADDRESS}
    values, errors = checked_fields(_columns_before(channel) | said, COLUMN_CHECKS)
    entered, wrong = of_kind(kind, entered)
    errors |= wrong
    # What nobody touches need not be readable: a channel whose key is lost can still be switched off.
    is_kept = channel is not None and not entered
    told, wrong = ({}, {}) if is_kept else checked_address(kind, entered, channel)
    errors |= wrong
    if "name" not in errors:
        errors |= _named(values.get("name"), channel)
    for name in ("title_template", "body_template"):
        if kind in WITHOUT_TEMPLATES and values.get(name):
            errors[name] = f"A channel of kind {kind} sends JSON, which has no template: leave it empty."
    if errors:
        raise ChannelRefused(errors)
    if channel is not None and is_kept:
        return {**values, "kind": kind, "target": channel.target, "sealed": channel.sealed}
    try:
        target = target_of(kind, told)
    except WrongValue as error:
        raise ChannelRefused({"url": str(error)}) from None
    return {**values, "kind": kind, "target": target, "sealed": sealed(told, settings.SECRET_KEY)}


def _kind(fields: Mapping[str, Any], channel: Channel | None) -> ChannelKind:
    kind = fields.get("kind", channel.kind if channel else None)
    if not isinstance(kind, str) or kind not in ChannelKind.values:
        raise ChannelRefused({"kind": f"It is one of {', '.join(ChannelKind.values)}."})
    if channel is not None and kind != channel.kind:
        raise ChannelRefused({"kind": f"{channel.name} is of kind {channel.kind} and stays so: add another channel."})
    return ChannelKind(kind)


def _columns_before(channel: Channel | None) -> dict[str, Any]:
    if channel is None:
        return dict(COLUMNS_ABSENT)
    before: dict[str, Any] = {name: getattr(channel, name) for name in COLUMN_CHECKS if name != "rules"}
    return {**before, "rules": [rule.pk for rule in channel.rules.all()]}


def _named(name: str | None, channel: Channel | None) -> dict[str, str]:
    if name is None:
        return {"name": "It must be given."}
    others = Channel.objects.filter(name=name)
    if channel is not None:
        others = others.exclude(pk=channel.pk)
    return {"name": "Another channel has this name."} if others.exists() else {}
