"""What keeps every failed message of a group from being taken back, as its retry conditions tell it."""

from collections.abc import Sequence
from datetime import datetime

from consumers.models import ConsumerGroup

from .load_facts import facts_of
from .rules.accepted import accepted


def refusals(groups: Sequence[ConsumerGroup], now: datetime) -> dict[int, str]:
    """By the group's id, in a sentence, those of which it is known. Their clusters must be loaded with them."""
    if not groups:
        return {}
    found = ((group.pk, accepted(facts)) for group, facts in zip(groups, facts_of(groups, now), strict=True))
    return {pk: condition.detail.removesuffix(".") for pk, condition in found if condition.is_failing}
