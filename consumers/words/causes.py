"""Why a group rebalanced."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.causes import RebalanceCause

CAUSES: dict[str, str | Promise] = {
    RebalanceCause.JOINED: _("joined"),
    RebalanceCause.LEFT: _("left"),
    RebalanceCause.GONE: _("gone"),
    RebalanceCause.SILENT: _("not reporting"),
    RebalanceCause.RECONNECTED: _("reconnected"),
    RebalanceCause.RESTARTED: _("restarted"),
    RebalanceCause.QUEUE_COUNT: _("queue count"),
    RebalanceCause.SUBSCRIPTION: _("subscription"),
    RebalanceCause.STRATEGY: _("strategy"),
    RebalanceCause.BROKER: _("broker"),
    RebalanceCause.PULL_STUCK: _("pull stuck"),
    RebalanceCause.UNKNOWN: _("cause unknown"),
}


def cause_words(code: str) -> str:
    """A code that is not in the catalogue is said as it is: another version of the product may have stored it."""
    return str(CAUSES.get(code, code))
