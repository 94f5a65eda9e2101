"""States of queues and groups."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.states import State

STATES: dict[State, str | Promise] = {
    State.LOSS: _("messages lost"),
    State.STOP: _("stopped"),
    State.STALL: _("stalled"),
    State.REWIND: _("went back"),
    State.WARN: _("lagging"),
    State.UNKNOWN: _("unknown"),
    State.RECREATED: _("recreated"),
    State.OK: _("OK"),
}
