"""Conditions of retries and kinds of blocked queues, as words on a page."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.retries.checks.condition_rows import Severity
from consumers.retries.unfinished.blocked_rows import BlockedKind

# By the claim's own words, as REST says them.
CONDITIONS: dict[str, str | Promise] = {
    "retries are kept": _("retries are retained"),
    "some broker takes retries": _("a broker accepts retries"),
    "the group exists": _("the group exists"),
    "all retry queues are read": _("all retry queues are consumed"),
    "the retry topic is read": _("the retry topic is consumed"),
    "the retry topic takes messages": _("the retry topic accepts messages"),
    "consumption is enabled": _("consumption is enabled"),
    "dead letters can be read": _("dead-letter messages are readable"),
    "brokers take their messages back": _("brokers accept messages sent back"),
    "name servers route messages to the brokers": _("name servers route messages to the brokers"),
    "originals are stored": _("original messages are stored"),
    "failed messages are retried": _("failed messages are retried"),
    "no message is retried while it runs": _("no message is retried while it is in progress"),
    "a message fails alone": _("messages fail individually"),
    "retries do not hold a queue up": _("retries do not block a queue"),
    "offsets wait for the outcome": _("offsets wait for the result"),
}
SEVERITIES: dict[Severity, str | Promise] = {
    Severity.CRITICAL: _("critical"),
    Severity.WARNING: _("warning"),
    Severity.NOTE: _("note"),
}
# The states whose shape and colour each has.
LIKE = {Severity.CRITICAL: "STOP", Severity.WARNING: "WARN", Severity.NOTE: "UNKNOWN"}
BLOCKED: dict[BlockedKind, str | Promise] = {
    BlockedKind.ORDERLY_SUSPEND: _("orderly suspend"),
    BlockedKind.LOCAL_RETRY: _("local retry"),
    BlockedKind.TIMEOUT_NEAR: _("timeout near"),
    BlockedKind.SLOW_MESSAGE: _("slow message"),
    BlockedKind.NOT_COMMITTED: _("not committed"),
    BlockedKind.UNKNOWN: _("cause unknown"),
}
