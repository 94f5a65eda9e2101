"""Writes a plan down: the reset and all of its queues at once, or the sentence why there is none."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from consumers.errands.hold import Hold, NotHeld
from consumers.errands.ports import Ports
from consumers.models import ConsumerGroup, Reset, ResetQueue, ResetStatus
from consumers.polling.wire import WireClosed
from consumers.resets.events import note_work
from consumers.resets.facts import GroupFacts
from consumers.resets.overdue import refuse_unplanned
from consumers.resets.wish import ResetRefused

from .draft import Draft, draft

logger = logging.getLogger(__name__)

Clock = Callable[[], datetime]
ROWS_AT_ONCE = 5_000


def make_plan(reset_id: UUID, ports: Ports, clock: Clock) -> None:
    """PLANNED or REFUSED afterwards, unless another worker has it, or it is planned no more."""
    try:
        hold = Hold.take(Reset, reset_id, ResetStatus.PLANNING, clock())
        reset = Reset.objects.get(pk=reset_id)
        group = ConsumerGroup.objects.select_related("cluster").get(resets=reset_id)
        try:
            made = draft(reset, group, ports, clock(), lambda: hold.renew_if_old(clock()))
        except ResetRefused as refusal:
            refuse_unplanned(reset_id, str(refusal), clock())
            return
        except WireClosed as lost:
            refuse_unplanned(reset_id, _("Could not plan: %s. Plan again.") % lost, clock())
            return
        _write(reset, made, hold, clock())
    except NotHeld as other:
        logger.info("%s", other)


def _write(reset: Reset, made: Draft, hold: Hold, now: datetime) -> None:
    """Raises NotHeld."""
    with transaction.atomic():
        hold.renew(now)
        ResetQueue.objects.bulk_create(made.rows, batch_size=ROWS_AT_ONCE)
        Reset.objects.filter(pk=reset.pk).update(
            status=ResetStatus.PLANNED,
            planned_at=made.facts.taken_at,
            expires_at=now + timedelta(seconds=settings.RESET_PLAN_SECONDS),
            working_at=None,
            seen=seen_of(made.facts),
            warnings=made.warnings,
        )
        note_work(reset, f"Planned {len(made.rows)} queues.", now)


def seen_of(facts: GroupFacts) -> dict[str, Any]:
    """As `Reset.seen` keeps it."""
    return {
        "members": None if facts.members is None else list(facts.members),
        "orderly": facts.orderly,
        "message_model": facts.message_model,
        "consume_type": facts.consume_type,
        "brokers": {
            name: {
                "version": broker.version,
                "server_side": broker.server_side,
                "permission": broker.permission,
                "address": broker.address,
            }
            for name, broker in sorted(facts.brokers.items())
        },
    }
