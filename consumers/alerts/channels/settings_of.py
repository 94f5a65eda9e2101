"""What may be said of a channel, checked without connecting anywhere. docs/channels.md has every field."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from consumers.alerts.refused import AlertRefused
from consumers.alerts.rules import fields as check
from consumers.alerts.rules.refused import Check, WrongValue, checked_fields
from consumers.models import AlertRule, Channel, ChannelKind, Severity

from .address_of import OF_ADDRESS, checked_address, of_kind, target_of
from .render import template_context
from .sample import NOBODY, sample_payload
from .secrets_of import sealed
from .templates import LONGEST_BODY, LONGEST_TITLE, checked_template


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
