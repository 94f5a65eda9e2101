"""What a column holds, in words: codes, reasons and JSON, from the catalogue that pages and REST have."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Field, FloatField, IntegerField, JSONField
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _, pgettext

from consumers.alerts.channels.receiver import CHANNEL_KINDS
from consumers.alerts.queries.words import MEASURES
from consumers.groups.health import Reason, shown
from consumers.models import Queue
from consumers.queries import codes
from consumers.queries.findings import finding_sentence
from consumers.queries.sentences import evidence, queue_words
from consumers.rebalances.sentences import evidence_sentence, moment
from consumers.vocabulary.findings import FindingCode
from consumers.words import findings, logs, offset_files, reasons, repeats, resets, states
from consumers.words.alerts import rule_name_words
from consumers.words.columns import column_name
from consumers.words.spans import count, decimal, size, when

from .names import NAMES

Words = Mapping[Any, str | Promise]

# By the name of the column, or with its model where other models have another column of that name.
CODES: dict[str, Words] = {
    "AlertRule.severity": codes.SEVERITIES,
    "AuditEvent.subject_kind": {model._meta.model_name: one for model, (one, _many) in NAMES.items()},
    "Channel.kind": {kind.value: spec.label for kind, spec in CHANNEL_KINDS.items()},
    "ConsumerGroup.kind": codes.GROUP_KINDS,
    "Delivery.status": codes.DELIVERIES,
    "GroupHealth.level": codes.HEALTH,
    "GroupState.rule": states.RULES,
    "Incident.severity": codes.SEVERITIES,
    "Incident.status": codes.INCIDENTS,
    "Incident.subject_kind": codes.SUBJECTS,
    "IncidentEvent.kind": codes.INCIDENT_EVENTS,
    "LogEvent.code": logs.CODES,
    "LogFile.role": logs.ROLES,
    "OffsetFile.kind": codes.OFFSET_FILE_KINDS,
    "QueueState.rule": states.RULES,
    "RepeatEvent.cause": repeats.CAUSES,
    "Resend.status": codes.RESENDS,
    "ResendItem.outcome": codes.RESENDS,
    "Reset.kind": resets.KINDS,
    "Reset.status": codes.RESETS,
    "ResetQueue.outcome": codes.RESET_OUTCOMES,
    "RulePreview.status": codes.PREVIEWS,
    "StateChange.after": states.STATES,
    "StateChange.before": states.STATES,
    "StateChange.rule": states.RULES,
    "StoredFinding.code": findings.TITLES,
    "StoredFinding.severity": findings.SEVERITIES,
    "Topic.kind": codes.TOPIC_KINDS,
    "action": codes.AUDIT_ACTIONS,
    "comparison": codes.COMPARISONS,
    "confidence": repeats.CONFIDENCE,
    "destination": codes.DESTINATIONS,
    "doubt": codes.CLOCK_DOUBTS,
    "ending": codes.ENDINGS,
    "expiry_forecast": states.FORECASTS,
    "form": logs.FORMS,
    "measure": MEASURES,
    "method": codes.RESET_METHODS,
    "source": repeats.SOURCES,
    "state": states.STATES,
    "step": resets.STEPS,
    "time_lag_kind": codes.TIME_LAG_KINDS,
    "via": codes.VIA,
    "zone_basis": logs.ZONE_BASES,
}
# Columns of reasons as `stored_words` reads them, beside those whose names end in "error".
STORED = frozenset(
    {
        *("answer", "evidence", "failing_why", "left_out", "moved", "sentence", "start_rule"),
        *("unknown_reason", "warnings"),
    }
)
# Codes within JSON, by the name of the list or value: beside those of CODES.
WITHIN: dict[str, Words] = {
    "severities": codes.SEVERITIES,
    "severity": codes.SEVERITIES,
    "states": states.STATES,
    "unknown": {**reasons.REBALANCE_REASONS, **repeats.UNKNOWN},
}
# Names within JSON that are no columns of a model.
KEYS: dict[str, str | Promise] = {
    "after_us": _("after"),
    "at_us": _("at"),
    "clients_read": _("clients read"),
    "consume_failed_messages": _("failed messages"),
    "consume_failed_tps": _("failed per second"),
    "consume_ok_tps": _("consumed per second"),
    "consume_rt": _("milliseconds per message"),
    "days": _("days"),
    "delays_ms": _("delays, milliseconds"),
    "doubly_owned_seconds": _("two owners, seconds"),
    "doubly_owned_seconds_high": _("two owners, seconds at most"),
    "doubly_owned_seconds_low": _("two owners, seconds at least"),
    "end": _("end"),
    "first_day": _("first day"),
    "from_offset": _("from offset"),
    "groups_read": _("groups read"),
    "high": _("at most"),
    "initial_ms": _("first delay, milliseconds"),
    "last_pop_at": _("last pop"),
    "low": _("at least"),
    "max_ms": _("longest delay, milliseconds"),
    "mode": _("mode"),
    "multiplier": _("multiplier"),
    "newest_whole_days": _("newest whole days"),
    "next_offset": _("next offset"),
    "oldest_whole_day": _("oldest whole day"),
    "read": _("read"),
    "replayed_from": _("redelivered from offset"),
    "replayed_until": _("redelivered to offset"),
    "server_side": _("moves offsets itself"),
    "time_zone": _("time zone"),
    "unowned_seconds": _("no owner, seconds"),
    "unowned_seconds_high": _("no owner, seconds at most"),
    "unowned_seconds_low": _("no owner, seconds at least"),
    "until_offset": _("to offset"),
    "wait_ack_count": _("unacknowledged messages"),
}
COLUMNS = {field.name for model in apps.get_app_config("consumers").get_models() for field in model._meta.fields}
# Django writes them without separators: 14400.0.
NUMBERS = (IntegerField, FloatField)
WRITTEN_HERE = (JSONField, *NUMBERS)
# Of a column that holds nothing: why, another column or the state of the row says.
NULL = _("no value")

# Of the row, and of what the column holds of it.
Write = Callable[[Any, Any], str | None]


def _lines(write: Callable[[Any], str | None]) -> Write:
    return lambda _row, values: "\n".join(str(write(one)) for one in values)


def _finding(row: Any, params: Any) -> str:
    """Of a code of another version, its parameters."""
    if row.code not in findings.TITLES:
        return plain(params)
    return finding_sentence(FindingCode(row.code), params, group=row.group_name, broker=row.broker)


def _causes(row: Any, found: Any) -> str:
    return "\n".join(evidence_sentence(one, row.started_after, row.started_before) for one in found)


def _presence(_row: Any, days: Any) -> str:
    return "\n".join(
        _("%(day)s: %(empty)s of %(answers)s answers without a member")
        % {"day": day, "empty": f"{empty:,}", "answers": f"{answers:,}"}
        for day, (answers, empty) in days.items()
    )


def _queue(_row: Any, queue: Queue) -> str:
    return queue_words(queue.topic.name, queue.broker, queue.queue_id)


def _volumes(_row: Any, unknown: Any) -> str:
    return "\n".join(f"{_named(name)}: {reasons.volume_words(reason)}" for name, reason in unknown.items())


SENTENCES: dict[str, Write] = {
    "AlertRule.name": lambda _row, name: rule_name_words(name),
    "ConsumerGroup.presence": _presence,
    "GroupHealth.checked": _lines(lambda reason: shown(Reason.of_json(reason)).text),
    "GroupHealth.noticed": _lines(lambda reason: shown(Reason.of_json(reason)).text),
    "LogFile.problem": lambda _row, problem: logs.log_problem_words(problem),
    "OffsetFile.error": lambda _row, error: offset_files.problem_words(error),
    "OffsetFile.findings": _lines(offset_files.finding_words),
    "Rebalance.cause": lambda _row, cause: ", ".join(map(reasons.cause_words, cause.split(", "))),
    "Rebalance.evidence": _causes,
    "RepeatEvent.evidence": _lines(repeats.evidence_words),
    "StoredFinding.params": _finding,
    "rule_name": lambda _row, name: rule_name_words(name),
    "detail": lambda _row, detail: "\n".join(evidence(detail)),
    "queue": _queue,
    "volumes_unknown": _volumes,
    "worst_queue": _queue,
}


def of(table: Mapping[str, Any], field: Field) -> Any:
    return table.get(f"{field.model.__name__}.{field.name}", table.get(field.name))


def column(field: Field) -> Callable[[Any], str]:
    """A column of a list, or a line of a page, that shows the field in words."""
    write = _writer(field)

    @admin.display(description=field.verbose_name, ordering=field.name)
    def shown_in_words(row: Any) -> str:
        value = getattr(row, field.name)
        return str(NULL) if value is None else write(row, value) or str(NULL)

    shown_in_words.is_number = isinstance(field, NUMBERS)  # type: ignore[attr-defined]
    return shown_in_words


def is_worded(field: Field) -> bool:
    """Django itself shows all others."""
    return bool(of(CODES, field) or of(SENTENCES, field) or _is_stored(field) or isinstance(field, WRITTEN_HERE))


def is_number(shown: Any) -> bool:
    return getattr(shown, "is_number", False)


def _writer(field: Field) -> Write:
    if (words := of(CODES, field)) is not None:
        return lambda _row, code: str(words.get(code, code))
    if (write := of(SENTENCES, field)) is not None:
        return write
    return lambda _row, value: plain(value, field.name)


def _is_stored(field: Field) -> bool:
    return field.name in STORED or field.name.endswith("error")


def plain(value: Any, name: str = "") -> str:
    """JSON as lines of `name: value`, and what is within a line by commas. `name`: of the column, or of the value."""
    if isinstance(value, list):
        return "\n".join(_inline(one, name) for one in value)
    return "\n".join(_lines_of(value, name)) if isinstance(value, Mapping) else _inline(value, name)


def _lines_of(value: Mapping[str, Any], name: str, path: str = "") -> Iterator[str]:
    for key, one in value.items():
        if isinstance(one, Mapping):
            yield from _lines_of(one, key, f"{path}{_named(key)} · ")
        else:
            yield f"{path}{_named(key)}: {_inline(one, key, name)}"


def _inline(value: Any, name: str, within: str = "") -> str:
    if value is None:
        return str(NULL)
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, int | float):
        if name.endswith("_us"):
            return when(datetime.fromtimestamp(value / 1e6, UTC))
        return size(value) if name.endswith("bytes") else _number(value)
    if isinstance(value, list):
        return ", ".join(_inline(one, name) for one in value)
    if isinstance(value, Mapping):
        if name == "evidence":
            return repeats.evidence_words(value)
        return ", ".join(f"{_named(key)}: {_inline(one, key, name)}" for key, one in value.items())
    words = WITHIN.get(name) or CODES.get(name) or WITHIN.get(within) or {}
    if value in words:
        return str(words[value])
    at = moment(value)
    return reasons.stored_words(value) if at is None else when(at)


def _number(value: float) -> str:
    return count(value) if isinstance(value, int) else decimal(value, 3)


def _named(key: str) -> str:
    """Other keys are names of topics, brokers or settings."""
    if key in COLUMNS:
        return pgettext("field", column_name(key))
    return str(KEYS.get(key, key))
