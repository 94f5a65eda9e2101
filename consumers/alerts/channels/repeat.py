"""Tells Alertmanager again of what fires, as it forgets what it is not told."""

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from consumers.errands.hold import Hold
from consumers.models import Channel, ChannelKind

from . import alertmanager
from .attempt import Clock, means, note_standing
from .back_off import is_held
from .outcome import Outcome
from .scrubbed import shown
from .secrets_of import ChannelNotReadable, told_of

logger = logging.getLogger(__name__)


def repeat_if_due(channel: Channel, hold: Hold, clock: Clock) -> None:
    """No delivery: nothing has changed. Noted before it is sent, so that one that hangs is not begun at once again."""
    now = clock()
    if channel.kind != ChannelKind.ALERTMANAGER or not channel.enabled or not _is_due(channel, now):
        return
    Channel.objects.filter(pk=channel.pk).update(repeated_at=now)
    if channel.repeated_at is None:
        return  # what fires was told for the first time just before: the minute begins
    try:
        told = told_of(channel, settings.SECRET_KEY)
    except ChannelNotReadable as error:
        _note(channel, Outcome(False, str(error), is_away=True), clock())
        return
    outcome = alertmanager.repeat(told, channel, now, means(hold, clock))
    if outcome is not None:
        _note(channel, replace(outcome, answer=shown(outcome.answer, told)), clock())


def _note(channel: Channel, outcome: Outcome, now: datetime) -> None:
    """No message waits for it, and it is as bad: what Alertmanager is not told of again is over there one day."""
    note_standing(channel, outcome, UUID(int=channel.pk), now)
    if not outcome.ok:
        logger.warning("%s was not told again of what fires: %s", channel.name, outcome.answer)


def _is_due(channel: Channel, now: datetime) -> bool:
    if is_held(channel.held_until, now):
        return False
    every = timedelta(seconds=alertmanager.REPEAT_SECONDS)
    return channel.repeated_at is None or now - channel.repeated_at >= every
