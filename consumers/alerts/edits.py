"""Changes that people make to rules, channels and notes: stored, tested and removed, each with an audit event."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from consumers.alerts.channels.channel_settings import checked_channel, saved
from consumers.alerts.channels.delivery.queue import next_number
from consumers.alerts.channels.texts.render import sample_payload
from consumers.alerts.notes import checked_note
from consumers.alerts.refused import AlertRefused
from consumers.alerts.rules.rule_fields import checked_rule
from consumers.jobs.audit import note
from consumers.jobs.audit import note as log
from consumers.models import AlertRule, Channel, Delivery, DeliveryStatus, GroupNote


@transaction.atomic
def keep_rule(fields: Mapping[str, Any], rule: AlertRule | None, by: Any, now: datetime) -> AlertRule:
    """Stores `rule` with `fields`, see `checked_rule`; None creates a rule. Raises AlertRefused."""
    values = checked_rule(fields, rule)
    kept = rule or AlertRule()
    before = {name: getattr(kept, name) for name in values}
    for name, value in values.items():
        setattr(kept, name, value)
    kept.changed_at, kept.changed_by_name = now, by.get_username()
    kept.save()
    changed = sorted(name for name, value in values.items() if before[name] != value)
    sentence = "Made the rule." if rule is None else f"Changed {', '.join(changed) or 'nothing'}."
    note(kept, kept.name, by, sentence, now)
    return kept


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
        return _("The site came with this rule, and it could not be had again: switch it off instead of removing it.")
    # A channel without rules is notified of all rules.
    alone = Channel.objects.filter(rules=rule).exclude(rules__in=AlertRule.objects.exclude(pk=rule.pk)).order_by("name")
    names = ", ".join(alone.values_list("name", flat=True))
    if names:
        return _("Channels that are told of nothing else would be told of all: %s. Change them first.") % names
    return None


# Channels: stored, tested and removed by people. The audit log contains no address.


@transaction.atomic
def keep_channel(fields: Mapping[str, Any], channel: Channel | None, by: Any, now: datetime) -> Channel:
    """Stores `channel` with `fields`, see `checked_channel`; None creates a channel. Raises AlertRefused."""
    kept = saved(checked_channel(fields, channel), channel, by, now)
    sentence = f"Changed {', '.join(sorted(fields)) or 'nothing'}." if channel else "Made the channel."
    note(kept, kept.name, by, sentence, now)
    return kept


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
def keep_note(fields: Mapping[str, Any], note: GroupNote | None, by: Any, now: datetime) -> GroupNote:
    """Stores `note` with `fields`, see `checked_note`; None creates a note. Raises AlertRefused."""
    values = checked_note(fields, note)
    kept = note or GroupNote()
    for name, value in values.items():
        setattr(kept, name, value)
    kept.changed_at, kept.changed_by_name = now, by.get_username()
    kept.save()
    log(kept, kept.group_pattern, by, "Made the note." if note is None else "Changed the note.", now)
    return kept


@transaction.atomic
def remove_note(note: GroupNote, by: Any, now: datetime) -> None:
    log(note, note.group_pattern, by, "Removed the note.", now)
    note.delete()
