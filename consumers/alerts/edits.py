"""Changes that people make to rules, channels and notes: stored, tested and removed, each with an audit event."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from consumers.alerts.channels.channel_settings import checked_channel, saved
from consumers.alerts.channels.queue import next_number
from consumers.alerts.channels.render import sample_payload
from consumers.jobs.acts import note, note as log
from consumers.jobs.permissions import check
from consumers.models import (
    AlertRule,
    Channel,
    Delivery,
    DeliveryStatus,
    GroupNote,
    Incident,
    IncidentEvent,
    IncidentEventKind,
    IncidentStatus,
)
from consumers.vocabulary.alerts import IncidentSentence
from consumers.vocabulary.reasons import stored_reason

from .fields import MAY_MANAGE, AlertRefused, WrongValue, cluster_of, text as text_of
from .notes import checked_note
from .rule_fields import checked_rule


@transaction.atomic
def save_rule(fields: Mapping[str, Any], rule: AlertRule | None, by: Any, now: datetime) -> AlertRule:
    """Stores `rule` with `fields`, see `checked_rule`; None creates a rule. Raises AlertRefused."""
    values = checked_rule(fields, rule)
    saved_rule = rule or AlertRule()
    before = {name: getattr(saved_rule, name) for name in values}
    for name, value in values.items():
        setattr(saved_rule, name, value)
    saved_rule.changed_at, saved_rule.changed_by_name = now, by.get_username()
    saved_rule.save()
    changed = sorted(name for name, value in values.items() if before[name] != value)
    sentence = "Made the rule." if rule is None else f"Changed {', '.join(changed) or 'nothing'}."
    note(saved_rule, saved_rule.name, by, sentence, now)
    return saved_rule


@transaction.atomic
def remove_rule(rule: AlertRule, by: Any, now: datetime) -> None:
    """Removes the rule. Its incidents stay; the next evaluation resolves the open ones. Raises AlertRefused."""
    if against := why_not_removed(rule):
        raise AlertRefused(against)
    # The rule is locked before its incidents, in the same order as an evaluation: otherwise the two could deadlock.
    AlertRule.objects.select_for_update().filter(pk=rule.pk).first()
    note(rule, rule.name, by, "Removed the rule.", now)
    rule.delete()


def why_not_removed(rule: AlertRule) -> str | None:
    """One query."""
    if rule.key is not None:
        return _("A built-in rule cannot be restored after its removal: disable it instead.")
    # A channel without rules is notified of all rules.
    alone = Channel.objects.filter(rules=rule).exclude(rules__in=AlertRule.objects.exclude(pk=rule.pk)).order_by("name")
    names = ", ".join(alone.values_list("name", flat=True))
    if names:
        return (
            _("Without this rule, these channels would receive notifications of all rules: %s. Change them first.")
            % names
        )
    return None


# Channels: stored, tested and removed by people. The audit log contains no address.


@transaction.atomic
def save_channel(fields: Mapping[str, Any], channel: Channel | None, by: Any, now: datetime) -> Channel:
    """Stores `channel` with `fields`, see `checked_channel`; None creates a channel. Raises AlertRefused."""
    saved_channel = saved(checked_channel(fields, channel), channel, by, now)
    sentence = f"Changed {', '.join(sorted(fields)) or 'nothing'}." if channel else "Made the channel."
    note(saved_channel, saved_channel.name, by, sentence, now)
    return saved_channel


@transaction.atomic
def remove_channel(channel: Channel, by: Any, now: datetime) -> None:
    """Removes the channel with its messages: queued messages are not sent."""
    note(channel, channel.name, by, "Removed the channel.", now)
    channel.delete()


def send_test(channel: Channel, by: Any, now: datetime) -> Delivery:
    """A queued delivery with `is_test`; the caller hands the channel over to a worker.

    The test goes before all other messages, also through a disabled channel, and is tried once.
    """
    delivery_id = uuid.uuid4()
    with transaction.atomic():
        number = next_number(channel)
        return Delivery.objects.create(
            id=delivery_id,
            channel=channel,
            number=number,
            is_test=True,
            payload=sample_payload(delivery_id, number, channel, by.get_username(), now),
            status=DeliveryStatus.WAITING,
            created_at=now,
            next_try_at=now,
        )


# Notes about groups: written and removed.


@transaction.atomic
def save_note(fields: Mapping[str, Any], note: GroupNote | None, by: Any, now: datetime) -> GroupNote:
    """Stores `note` with `fields`, see `checked_note`; None creates a note. Raises AlertRefused, and PermissionDenied
    where `by` may not manage alerts of the cluster that the note is of, or was of.
    """
    values = checked_note(fields, note)
    saved_note = note or GroupNote()
    for cluster in {values["cluster"], values["cluster"] if note is None else note.cluster}:
        check(by, MAY_MANAGE, cluster_of(cluster))
    for name, value in values.items():
        setattr(saved_note, name, value)
    saved_note.changed_at, saved_note.changed_by_name = now, by.get_username()
    saved_note.save()
    log(saved_note, saved_note.group_pattern, by, "Made the note." if note is None else "Changed the note.", now)
    return saved_note


@transaction.atomic
def remove_note(note: GroupNote, by: Any, now: datetime) -> None:
    """Raises PermissionDenied."""
    check(by, MAY_MANAGE, cluster_of(note.cluster))
    log(note, note.group_pattern, by, "Removed the note.", now)
    note.delete()


# Acknowledges incidents and takes acknowledgements back. Neither stops an incident or its notifications.

LONGEST_TEXT = 2000
FIELDS = ["acknowledged_at", "acknowledged_by", "acknowledged_by_name", "acknowledgement"]


def why_not_acknowledged(incident: Incident) -> str | None:
    """Null where the incident can be acknowledged. A second acknowledgement replaces the first one."""
    if incident.status == IncidentStatus.FIRING:
        return None
    words = {IncidentStatus.PENDING: _("this one is pending"), IncidentStatus.RESOLVED: _("this one is resolved")}
    return _("Only a firing incident can be acknowledged: %s.") % words[IncidentStatus(incident.status)]


def why_not_unacknowledged(incident: Incident) -> str | None:
    if against := why_not_acknowledged(incident):
        return against
    return _("The incident is not acknowledged.") if incident.acknowledged_at is None else None


def acknowledge(incident: Incident, by: Any, text: str, now: datetime) -> None:
    """Acknowledges the incident. `text` may be empty. Repeating the same acknowledgement changes nothing. Raises
    AlertRefused, and PermissionDenied where `by` may not manage alerts of its cluster.
    """
    check(by, MAY_MANAGE, incident.cluster_name)
    checked = _checked(text)
    with transaction.atomic():
        _take_turn(incident)
        if against := why_not_acknowledged(incident):
            raise AlertRefused(against)
        name = by.get_username()
        if incident.acknowledged_at is not None and (name, checked) == _acknowledged(incident):
            return
        incident.acknowledged_at, incident.acknowledged_by, incident.acknowledged_by_name = now, by, name
        incident.acknowledgement = checked
        incident.save(update_fields=FIELDS)
        code = IncidentSentence.ACKNOWLEDGED_WITH if checked else IncidentSentence.ACKNOWLEDGED
        words = stored_reason(code, **({"comment": checked} if checked else {}))
        _note(incident, IncidentEventKind.ACKNOWLEDGED, words, by, now)


def unacknowledge(incident: Incident, by: Any, now: datetime) -> None:
    """Takes the acknowledgement back. Raises as `acknowledge`."""
    check(by, MAY_MANAGE, incident.cluster_name)
    with transaction.atomic():
        _take_turn(incident)
        if against := why_not_unacknowledged(incident):
            raise AlertRefused(against)
        incident.acknowledged_at, incident.acknowledged_by, incident.acknowledged_by_name = None, None, None
        incident.acknowledgement = ""
        incident.save(update_fields=FIELDS)
        _note(incident, IncidentEventKind.UNACKNOWLEDGED, stored_reason(IncidentSentence.UNACKNOWLEDGED), by, now)


def _checked(text: str) -> str:
    try:
        return str(text_of(LONGEST_TEXT)(text))
    except WrongValue as wrong:
        raise AlertRefused({"text": str(wrong)}) from None


def _take_turn(incident: Incident) -> None:
    """Locks the incident's row, so that people and the evaluation change it one after the other."""
    if Incident.objects.select_for_update().filter(pk=incident.pk).first() is None:
        raise AlertRefused(_("The incident is resolved and no longer retained."))
    incident.refresh_from_db()


def _acknowledged(incident: Incident) -> tuple[str | None, str]:
    return incident.acknowledged_by_name, incident.acknowledgement


def _note(incident: Incident, kind: IncidentEventKind, sentence: str, by: Any, now: datetime) -> None:
    newest: int | None = IncidentEvent.objects.filter(incident=incident).aggregate(newest=Max("sequence"))["newest"]
    IncidentEvent.objects.create(
        incident=incident,
        sequence=(newest or 0) + 1,
        at=now,
        kind=kind,
        sentence=sentence,
        by_name=by.get_username(),
    )
    note(incident, str(incident), by, sentence, now)
