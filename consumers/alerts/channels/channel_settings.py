"""Checks the settings that people enter for a channel, without connecting to it, and stores the row.

docs/channels.md describes every field.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext, gettext_lazy as _

from consumers.alerts import fields as check
from consumers.alerts.fields import (
    REQUIRED,
    AlertRefused,
    EntryField,
    Shape,
    WrongValue,
    checked_fields,
    checks_of,
    defaults_of,
)
from consumers.models import AlertRule, Channel, ChannelKind, Severity
from consumers.words.marks import listed
from consumers.words.reasons import stored_words

from .kinds.addresses import parsed_url
from .kinds.channel_kind import ChannelKindSpec, SealedFields
from .receiver import CHANNEL_KINDS, COLUMNS, ChannelNotReadable, begin_anew, sealed, sealed_fields
from .render import NOBODY, sample_payload, template_context
from .templates import LONGEST_BODY, LONGEST_TITLE, checked_template


def _severities(value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not all(one in Severity.values for one in value):
        raise WrongValue(gettext("Must be a list of severities: %s.") % ", ".join(Severity.values))
    return [severity for severity in Severity.values if severity in value]


def _rules(value: Any) -> list[AlertRule]:
    if not isinstance(value, list | tuple) or not all(type(one) is int for one in value):
        raise WrongValue(gettext("Must be a list of rule IDs; an empty list means all rules."))
    found = list(AlertRule.objects.filter(pk__in=[one for one in value if 0 < one < 2**63]))
    missing = sorted(set(value) - {rule.pk for rule in found})
    if missing:
        raise WrongValue(gettext("There is no rule %s.") % missing[0])
    return found


def _example() -> dict[str, Any]:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return template_context(sample_payload(NOBODY, 1, Channel(name="example"), "somebody", now), named=1)


# Fields of every kind of channel, in addition to the fields of its address.
CHANNEL_FIELDS = (
    EntryField(name="name", shape=Shape.TEXT, check=check.text(100, required=True), longest=100, label=_("Name")),
    EntryField(
        name="enabled",
        shape=Shape.TRUTH,
        check=check.truth,
        default=True,
        label=_("Enabled"),
        help_text="By default true",
    ),
    EntryField(
        name="severities",
        shape=Shape.CHOICES,
        check=_severities,
        default=[],
        choices=Severity,
        label=_("Severities"),
        hint=_("none chosen: all severities"),
        help_text="Null: all",
    ),
    EntryField(
        name="cluster",
        shape=Shape.SCOPE,
        check=check.pattern(100),
        default="",
        longest=100,
        label=_("Cluster"),
        hint=_("empty: all"),
    ),
    EntryField(
        name="group_pattern",
        shape=Shape.SCOPE,
        check=check.pattern(255),
        default="",
        longest=255,
        label=_("Groups"),
        hint=_("a name, or a pattern with * and ?; empty: everything"),
        help_text="With * and ?",
    ),
    EntryField(
        name="labels",
        shape=Shape.LABELS,
        check=check.labels,
        default={},
        label=_("Labels"),
        hint=_("team=payments, one per line; a group must have all of them"),
    ),
    EntryField(name="rules", shape=Shape.IDS, check=_rules, default=[], help_text="Their ids; null: all rules"),
    EntryField(
        name="title_template",
        shape=Shape.LINES,
        check=checked_template(LONGEST_TITLE, _example),
        default="",
        label=_("Title"),
        hint=_("empty: the default; for example {{ rule.name }}, {{ count }}, {{ events.0.incident.subject.title }}"),
    ),
    EntryField(
        name="body_template",
        shape=Shape.LINES,
        check=checked_template(LONGEST_BODY, _example),
        default="",
        label=_("Body"),
        hint=_("empty: the default; for example {% for event in events %}{{ event.sentence }}{% endfor %}"),
    ),
    EntryField(
        name="tells_resolved",
        shape=Shape.TRUTH,
        check=check.truth,
        default=True,
        label=_("Notify when resolved"),
        help_text="By default true",
    ),
)
LONGEST_TARGET = 300
TEMPLATES = ("title_template", "body_template")
CHECKS = checks_of(CHANNEL_FIELDS)
ADDRESS_NAMES = {field.name for kind in CHANNEL_KINDS.values() for field in kind.fields}


def checked_channel(fields: Mapping[str, Any], channel: Channel | None = None) -> dict[str, Any]:
    """The columns of a row, `sealed` and `target` among them, and `rules` (a list of AlertRule): for `saved`.

    `fields`: `kind`, CHANNEL_FIELDS, and those of the kind. A field that is absent stays as it is in `channel`, or has
    its default; the kind of a channel never changes. Fields of another kind may be there if they are empty. Raises
    AlertRefused.
    """
    kind = _kind(fields, channel)
    columns = {name: value for name, value in fields.items() if name != "kind"}
    address = {name: columns.pop(name) for name in list(columns) if name in ADDRESS_NAMES}
    values, errors = checked_fields(_columns_before(channel) | columns, CHECKS)
    address, wrong = _of_kind(kind, address)
    errors |= wrong
    # Unchanged settings need not be readable: a channel whose key is lost can still be disabled.
    keeps_address = channel is not None and not address
    entered, wrong = ({}, {}) if keeps_address else _checked_address(kind, address, channel)
    errors |= wrong
    if "name" not in errors:
        errors |= _wrong_name(values.get("name"), channel)
    for name in TEMPLATES:
        if not kind.has_templates and values.get(name):
            errors[name] = (
                gettext("A channel of kind %s sends JSON, which has no template: leave it empty.") % kind.code
            )
    if errors:
        raise AlertRefused(errors)
    if channel is not None and keeps_address:
        return {**values, "kind": kind.code, "target": channel.target, "sealed": channel.sealed}
    try:
        target = kind.target(entered)[:LONGEST_TARGET]
    except WrongValue as error:
        raise AlertRefused({kind.fields[0].name: str(error)}) from None
    return {**values, "kind": kind.code, "target": target, "sealed": sealed(entered, settings.SECRET_KEY)}


def saved(checked: Mapping[str, Any], channel: Channel | None, by: Any, now: datetime) -> Channel:
    """Stores `checked`, which `checked_channel` returned for the same `channel`; None creates a channel."""
    row = channel or Channel()
    for name, value in checked.items():
        if name != "rules":
            setattr(row, name, value)
    row.changed_at, row.changed_by_name = now, by.get_username()
    # What is known of the receiver was learnt with the previous settings.
    begin_anew(row)
    columns = [*(name for name in checked if name != "rules"), "changed_at", "changed_by_name", *COLUMNS]
    with transaction.atomic():
        # Only workers write the heartbeat of a channel; it is never written here.
        row.save(update_fields=columns if channel else None)
        row.rules.set(checked["rules"])
    return row


def _of_kind(kind: ChannelKindSpec, entered: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Forms have the fields of all kinds: fields of other kinds must be empty."""
    names = {field.name for field in kind.fields}
    own = {name: value for name, value in entered.items() if name in names}
    foreign = [name for name, value in entered.items() if name not in own and value not in (None, "", [], {})]
    return own, {
        name: gettext("A channel of kind %(kind)s has no %(name)s.") % {"kind": kind.code, "name": name}
        for name in foreign
    }


def _checked_address(
    kind: ChannelKindSpec, entered: Mapping[str, Any], channel: Channel | None
) -> tuple[SealedFields, dict[str, str]]:
    """The values to seal, and a sentence for each invalid field. A value that is not entered stays as it is in
    `channel`.
    """
    checks = checks_of(kind.fields)
    values, errors = checked_fields(entered, checks)
    before: SealedFields = {}
    if channel is not None and not set(checks) <= set(entered):
        try:
            before = sealed_fields(channel, settings.SECRET_KEY)
        except ChannelNotReadable as error:
            return {}, errors | {kind.fields[0].name: stored_words(str(error))}
    together = defaults_of(kind.fields) | before | values
    for field in kind.fields:
        if field.default is REQUIRED and not together.get(field.name):
            errors.setdefault(field.name, gettext("Required."))
    if not errors:
        errors = _sent_to_another_host(kind, together, before, values) or kind.wrong_together(together)
    return together, errors


def _sent_to_another_host(
    kind: ChannelKindSpec, together: SealedFields, before: SealedFields, values: SealedFields
) -> dict[str, str]:
    """Changing an address must not reveal the secrets that were entered for the previous one: they would go to another
    host.
    """
    unseen = [
        field.name
        for field in kind.fields
        if field.is_sent_along and before.get(field.name) and field.name not in values
    ]
    if unseen and parsed_url(together["url"]).origin != parsed_url(before["url"]).origin:
        return {
            "url": gettext("This is another host: enter these again, or leave them empty, as they are sent there: %s.")
            % listed(unseen)
        }
    return {}


def _kind(fields: Mapping[str, Any], channel: Channel | None) -> ChannelKindSpec:
    kind = fields.get("kind", channel.kind if channel else None)
    if not isinstance(kind, str) or kind not in ChannelKind.values:
        raise AlertRefused({"kind": gettext("Must be one of %s.") % ", ".join(ChannelKind.values)})
    if channel is not None and kind != channel.kind:
        raise AlertRefused(
            {
                "kind": gettext("The kind of %(channel)s is %(kind)s and cannot be changed: add another channel.")
                % {"channel": channel.name, "kind": channel.kind}
            }
        )
    return CHANNEL_KINDS[ChannelKind(kind)]


def _columns_before(channel: Channel | None) -> dict[str, Any]:
    if channel is None:
        return defaults_of(CHANNEL_FIELDS)
    before: dict[str, Any] = {name: getattr(channel, name) for name in CHECKS if name != "rules"}
    return {**before, "rules": [rule.pk for rule in channel.rules.all()]}


def _wrong_name(name: str | None, channel: Channel | None) -> dict[str, str]:
    if name is None:
        return {"name": gettext("Required.")}
    others = Channel.objects.filter(name=name)
    if channel is not None:
        others = others.exclude(pk=channel.pk)
    return {"name": gettext("Another channel has this name.")} if others.exists() else {}
