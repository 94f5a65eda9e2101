"""Why a group rebalanced, as words on a page."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.selectors.rebalances.flapping import Level
from consumers.selectors.rebalances.rows import Cause

CAUSES: dict[str, str | Promise] = {
    Cause.JOINED: _("joined"),
    Cause.LEFT: _("left"),
    Cause.GONE: _("gone"),
    Cause.SILENT: _("silent"),
    Cause.RECONNECTED: _("reconnected"),
    Cause.RESTARTED: _("restarted"),
    Cause.QUEUE_COUNT: _("queue count"),
    Cause.SUBSCRIPTION: _("subscription"),
    Cause.STRATEGY: _("strategy"),
    Cause.BROKER: _("broker"),
    Cause.PULL_STUCK: _("pull stuck"),
    Cause.UNKNOWN: _("cause unknown"),
}

LEVELS: dict[str, str | Promise] = {
    Level.FLAPPING: _("flapping"),
    Level.UNSETTLED: _("does not settle"),
    Level.RESTLESS: _("restless"),
    Level.CALM: _("calm"),
}
