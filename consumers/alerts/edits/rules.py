"""Rules, written and removed. An evaluation reads them as they are: it ends what no rule is about any more."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from consumers.alerts.refused import AlertRefused
from consumers.alerts.rules.rule_fields import checked_rule
from consumers.errands.audit import note
from consumers.models import AlertRule, Channel


@transaction.atomic
def keep_rule(fields: Mapping[str, Any], rule: AlertRule | None, by: Any, now: datetime) -> AlertRule:
    """`rule` with `fields`, see `checked_rule`; one more where it is None. Raises AlertRefused."""
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
    """Its incidents stay; those that are open end by the next evaluation. Raises AlertRefused."""
    if against := why_not_removed(rule):
        raise AlertRefused(against)
    # Before its incidents, as an evaluation holds it: in another order the two would wait for each other.
    AlertRule.objects.select_for_update().filter(pk=rule.pk).first()
    note(rule, rule.name, by, "Removed the rule.", now)
    rule.delete()


def why_not_removed(rule: AlertRule) -> str | None:
    """One query."""
    if rule.key is not None:
        return _("The site came with this rule, and it could not be had again: switch it off instead of removing it.")
    # A channel without rules is told of all of them.
    alone = Channel.objects.filter(rules=rule).exclude(rules__in=AlertRule.objects.exclude(pk=rule.pk)).order_by("name")
    names = ", ".join(alone.values_list("name", flat=True))
    if names:
        return _("Channels that are told of nothing else would be told of all: %s. Change them first.") % names
    return None
