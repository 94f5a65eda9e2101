"""How each public field is labelled and written. Columns, JSON and labels share one spelling: the field's name."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from .numbers import count, duration, rate, share


@dataclass(frozen=True)
class Field:
    label: str | Promise
    unit: str | Promise
    write: Callable[[float], str]


MESSAGES, OFFSET = _("messages"), _("offset")

FIELDS = {
    "lag_messages": Field(_("Lag"), MESSAGES, count),
    "lag_messages_at_least": Field(_("Lag at least"), MESSAGES, count),
    "time_lag_seconds": Field(_("Time lag"), "", duration),
    "consume_rate": Field(_("Consumed"), MESSAGES, rate),
    "produce_rate": Field(_("Produced"), MESSAGES, rate),
    "retry_rate": Field(_("Into retry"), MESSAGES, rate),
    "retry_share": Field(_("Retry share"), _("of consumed, 1 h"), share),
    "drain_seconds": Field(_("Drains in"), "", duration),
    "members": Field(_("Members"), _("clients"), count),
    "dlq_messages": Field(_("Dead letters"), MESSAGES, count),
    "dlq_day_messages": Field(_("DLQ 24 h"), MESSAGES, count),
    "never_committed_queues": Field(_("Never committed"), _("queues"), count),
    "lost_queues": Field(_("Offset lost"), _("queues"), count),
    "lost_offset": Field(_("Last known"), OFFSET, count),
    "would_skip_messages": Field(_("Skips"), MESSAGES, count),
    "would_redeliver_messages": Field(_("Redelivers"), MESSAGES, count),
    "completeness": Field(_("Judged on a full window"), _("of its queues"), share),
    "min_offset": Field(_("Min"), OFFSET, count),
    "consumer_offset": Field(_("Consumer"), OFFSET, count),
    "broker_offset": Field(_("Broker"), OFFSET, count),
    "pull_offset": Field(_("Pulled"), OFFSET, count),
    "ready": Field(_("Ready"), MESSAGES, count),
    "in_flight": Field(_("In flight"), MESSAGES, count),
    "expired_messages": Field(_("Expired"), MESSAGES, count),
    "messages_per_second": Field(_("Consumed"), MESSAGES, rate),
    "queues": Field(_("Queues"), _("queues"), count),
    "calls": Field(_("Calls"), _("calls"), count),
}
