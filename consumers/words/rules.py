"""The rules that gave a state, and what they name as evidence besides numbers."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.rules import BlockedBy, Expiry, OwnerUnknown, RuleCode

RULES: dict[str, str | Promise] = {
    RuleCode.PROGRESS_OUTSIDE: _("progress is stored outside the brokers"),
    RuleCode.NOT_REPORTED: _("no member reports its offset to the broker"),
    RuleCode.NOT_READ: _("not read"),
    RuleCode.OFFSET_LOST: _("offset lost"),
    RuleCode.TOO_FEW_READINGS: _("too few scrapes to evaluate"),
    RuleCode.TOPIC_RECREATED: _("topic recreated"),
    RuleCode.NEVER_COMMITTED: _("never committed"),
    RuleCode.NO_SUCH_QUEUE: _("the broker has no such queue"),
    RuleCode.LAG_UNKNOWN: _("lag unknown"),
    RuleCode.INACTIVE: _("inactive"),
    RuleCode.OFFSET_WENT_BACK: _("offset went back"),
    RuleCode.MESSAGES_EXPIRED: _("unread messages expired"),
    RuleCode.MOVED_TO_OLDEST: _("moved to the oldest message"),
    RuleCode.POPPED_TO_END: _("popped to the end; acks are not in the offset"),
    RuleCode.CAUGHT_UP: _("caught up"),
    RuleCode.WITHIN_THRESHOLD: _("within threshold"),
    RuleCode.WITHIN_THRESHOLD_BEFORE: _("within threshold a moment ago"),
    RuleCode.PAUSED: _("paused by configuration"),
    RuleCode.OFFLINE_BY_HABIT: _("offline by habit"),
    RuleCode.NO_MEMBERS: _("no members"),
    RuleCode.NO_OWNER: _("no owner"),
    RuleCode.BLOCKED: _("blocked"),
    RuleCode.OWNER_UNKNOWN: _("no commit, owner unknown"),
    RuleCode.FALLING_BEHIND: _("falling behind"),
    RuleCode.NOT_DRAINING: _("not draining"),
    RuleCode.DRAINING: _("draining"),
    RuleCode.TIME_LAG_UNBOUNDED: _("lagging, time lag unknown"),
    RuleCode.LAGGING: _("lagging"),
    RuleCode.NO_OWN_QUEUE: _("no queue of its own topics was read"),
}

BLOCKED_BY: dict[str, str | Promise] = {
    BlockedBy.NOT_SAMPLED: _("not sampled"),
    BlockedBy.ORDERLY_MESSAGE: _("an unfinished orderly message"),
    BlockedBy.FLOW_CONTROL: _("flow control"),
    BlockedBy.MESSAGE: _("an unfinished message"),
    BlockedBy.SUSPENDED: _("suspended by the application"),
    BlockedBy.NOT_PULLING: _("the owner does not pull"),
}

OWNERS: dict[str, str | Promise] = {
    OwnerUnknown.POPPING: _("none: it pops"),
    OwnerUnknown.UNLISTED: _("not listed by any broker"),
    OwnerUnknown.NOT_SAMPLED: _("not sampled"),
}

EXPIRY: dict[str, str | Promise] = {Expiry.UNKNOWN: _("unknown")}

# By the names of a rule's evidence.
OF_EVIDENCE: dict[str, Mapping[str, str | Promise]] = {
    "blocked_by": BLOCKED_BY,
    "owner": OWNERS,
    "expiry": EXPIRY,
}


def rule_words(code: str) -> str:
    """A code that is not in the catalogue is said as it is: another version of the product may have stored it."""
    return str(RULES.get(code, code))
