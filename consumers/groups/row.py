"""Makes the row of a group under its overlay: every null with its reason."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django.utils.translation import gettext

from consumers.models import GroupKind, GroupState, State, TimeLagKind
from consumers.queries.queues.overlay import NOT_JUDGED_YET
from consumers.vocabulary.reasons import ReasonCode, volume_code
from consumers.vocabulary.states import ExpiryForecast, RuleCode
from consumers.words.marks import chained, labelled
from consumers.words.reasons import coded_reason, lazy_reason, membership_reason, stored_words, volume_words
from consumers.words.states import FLAGS

from .health import shown as shown_reason
from .rows import GROUP, JUDGED, TOTAL, GroupRow, KnownPart, stored_in
from .shown import NOT_READ_YET, ShownGroup

# Rules of the evaluation where the backlog is what was just produced: its time to drain is never "drained".
KEEPING_UP = (RuleCode.CAUGHT_UP, RuleCode.WITHIN_THRESHOLD, RuleCode.WITHIN_THRESHOLD_BEFORE)
YOUNG_LAG = lazy_reason(ReasonCode.LAG_IS_YOUNG)
WITHOUT_EXPIRY: dict[str, ReasonCode] = {
    ExpiryForecast.NONE: ReasonCode.NO_EXPIRY_EXPECTED,
    ExpiryForecast.NO_RETENTION: ReasonCode.EXPIRY_NO_RETENTION,
    ExpiryForecast.NO_TIME_LAG: ReasonCode.EXPIRY_NO_TIME_LAG,
    ExpiryForecast.NO_TREND: ReasonCode.EXPIRY_NO_TREND,
}

# Commits come every few seconds: rates of a minute differ by so much though a group consumes all that is produced.
ABOUT_AS_FAST = 0.9


def row_fields(shown: ShownGroup, lag_of_queues: int | None = None) -> dict[str, Any]:
    """The values of all fields of GroupRow, which a detail needs too.

    `lag_of_queues`: the lag summed over the shown queues, which replaces the stored total.
    """
    group, judged, verdict = shown.group, shown.judged, shown.verdict
    lag, time_lag, drain = (shown.shown(name) for name in ("lag_messages", "time_lag_seconds", "drain_seconds"))
    at_least, health = shown.shown("lag_messages_at_least"), shown.health
    if lag is not None and lag_of_queues is not None and lag != lag_of_queues:
        # As in the overlay: zero exactly where the lag is; an evaluation of a zero lag says nothing about another lag.
        if not lag or not lag_of_queues:
            time_lag, drain = (None if lag_of_queues else 0.0), None
        lag = at_least = lag_of_queues
    if _keeps_up(shown):
        drain = None
    fields: dict[str, Any] = {
        "id": group.pk,
        "cluster": group.cluster.name,
        "group": group.name,
        "kind": GroupKind(group.kind),
        "state": verdict.state,
        "stale": verdict.stale,
        "state_detail": verdict.sentence,
        "since": verdict.since,
        "health": health.level,
        "health_reasons": tuple(shown_reason(reason) for reason in health.reasons),
        "flags": tuple(str(flag) for flag in shown.flags.reasons),
        "flag_reasons": {str(flag): stored_words(reason) for flag, reason in shown.flags.reasons.items()},
        "completeness": judged.completeness if judged and not shown.unjudged_reason else None,
        "lag_messages": lag,
        "lag_messages_at_least": at_least,
        "time_lag_seconds": time_lag,
        "time_lag_kind": time_lag_kind(lag, time_lag, *_judged_time_lag(judged)),
        "time_lag_at": _time_lag_at(shown, lag, time_lag),
        "drain_seconds": drain,
        "message_model": group.message_model,
        "consume_type": group.consume_type,
        "last_rebalance_at": judged.last_rebalance_at if judged else None,
        "open_incidents": None if isinstance(shown.incidents, str) else shown.incidents,
        "taken_at": shown.shown("taken_at"),
        "judged_at": judged.judged_at if judged else None,
        "unknown_reason": shown.lag_reason,
        "unknown_reason_code": shown.lag_code,
    }
    fields |= {name: shown.shown(name) for name in stored_in(JUDGED, TOTAL, GROUP)}
    forecast = None if judged is None or fields["expires_unconsumed_seconds"] is None else judged.expiry_forecast
    fields["expires_unconsumed_at_most"] = None if forecast is None else is_forecast_partial(forecast, lag)
    codes = {
        name: code
        for name, stored in _volume_reasons(shown).items()
        if fields[name] is None and (code := volume_code(stored)) is not None
    }
    return fields | {
        "unknown": _reasons(shown, fields),
        "known_parts": _known_parts(shown, fields),
        "unknown_codes": codes,
    }


def group_row(shown: ShownGroup) -> GroupRow:
    return GroupRow(**row_fields(shown))


def time_lag_kind(
    lag: int | None, time_lag: float | None, judged: str | None, judged_seconds: float | None
) -> TimeLagKind:
    """`judged` is the kind of the newest evaluation, null where there is none, and `judged_seconds` its time lag."""
    if time_lag is None or judged is None:
        return TimeLagKind.EXACT if lag == 0 else TimeLagKind.UNKNOWN
    if lag == 0:
        return TimeLagKind.EXACT
    # One of its queues is unknown: it may have waited for longer.
    if lag is None:
        return TimeLagKind.AT_LEAST
    # An evaluated zero is from before the lag, and the time lag from the polls.
    return TimeLagKind(judged) if judged_seconds else TimeLagKind.INTERPOLATED


def _judged_time_lag(judged: GroupState | None) -> tuple[str | None, float | None]:
    return (None, None) if judged is None else (judged.time_lag_kind, judged.time_lag_seconds)


def _reasons(shown: ShownGroup, fields: dict[str, Any]) -> dict[str, str]:
    """A reason for each null that `unknown_reason` does not cover. Words cost more than all other fields together:
    they are made for those alone.
    """

    def judged() -> str:
        return (
            shown.unread_reason or shown.unjudged_reason or gettext("the evaluated range does not contain the answer")
        )

    def of_reading() -> str:
        return shown.unread_reason or str(NOT_READ_YET)

    reasons: dict[str, Callable[[], str]] = {
        **dict.fromkeys(stored_in(JUDGED), judged),
        "since": lambda: shown.unread_reason or str(NOT_JUDGED_YET),
        "completeness": lambda: shown.unjudged_reason or str(NOT_JUDGED_YET),
        "lag_messages_at_least": lambda: shown.lag_reason or str(NOT_READ_YET),
        **dict.fromkeys(("never_committed_queues", "lost_queues"), of_reading),
        **dict.fromkeys(("time_lag_seconds", "time_lag_at"), lambda: _time_lag_reason(shown, fields["lag_messages"])),
        "drain_seconds": lambda: _drain_reason(shown, fields),
        "retry_rate": lambda: (
            shown.unread_reason
            or shown.unjudged_reason
            or gettext("too few polls have a committed offset of its retry topic")
        ),
        **dict.fromkeys(
            ("expires_unconsumed_seconds", "expires_unconsumed_at_most"), lambda: _expiry_reason(shown, judged())
        ),
        "dlq_messages": lambda: (
            shown.unread_reason
            or (str(NOT_READ_YET) if shown.total is None else gettext("the dead-letter topic was not read"))
        ),
        "expired_messages": lambda: shown.lag_reason or gettext("the min offset of a queue with lag was not read"),
        "last_rebalance_at": lambda: _rebalance_reason(shown),
        "open_incidents": lambda: str(shown.incidents),
        "taken_at": lambda: str(NOT_READ_YET),
        "judged_at": lambda: str(NOT_JUDGED_YET),
        **{name: partial(volume_words, stored) for name, stored in _volume_reasons(shown).items()},
        **dict.fromkeys(("members", "online", "message_model", "consume_type"), lambda: shown.members_reason),
    }
    nulls = {name: reason() for name, reason in reasons.items() if fields[name] is None}
    undecided = chained(labelled(FLAGS[flag], stored_words(why)) for flag, why in shown.flags.undecided.items())
    return nulls | ({"flags": undecided} if undecided else {})


def _time_lag_at(shown: ShownGroup, lag: int | None, time_lag: float | None) -> datetime | None:
    """A time lag of zero, or that polls tell, is of the newest reading; any other was evaluated for an earlier time."""
    if time_lag is None:
        return None
    taken_at: datetime | None = shown.shown("taken_at")
    return taken_at if lag == 0 or shown.judged is None or not shown.judged.time_lag_seconds else shown.judged.judged_at


def _known_parts(shown: ShownGroup, fields: dict[str, Any]) -> dict[str, KnownPart]:
    judged = shown.judged
    if judged is None or shown.unread_reason or shown.unjudged_reason:
        return {}
    parts = {
        "dlq_day_messages": (judged.dlq_day_messages_at_least, judged.dlq_day_since),
        "retry_share": (judged.retry_share_known, judged.retry_share_since),
    }
    known = {name: (value, since) for name, (value, since) in parts.items() if fields[name] is None}
    return {name: KnownPart(value, since) for name, (value, since) in known.items() if value is not None}


def _volume_reasons(shown: ShownGroup) -> dict[str, Any]:
    """As stored, where evaluated values are shown."""
    if shown.judged is None or shown.unread_reason or shown.unjudged_reason:
        return {}
    return dict(shown.judged.volumes_unknown)


def _time_lag_reason(shown: ShownGroup, lag: int | None) -> str:
    if shown.unread_reason or shown.unjudged_reason:
        return shown.unread_reason or shown.unjudged_reason or ""
    if shown.judged is not None and shown.judged.time_lag_seconds is None:
        return gettext("the evaluated range does not contain the answer")
    return str(YOUNG_LAG) if lag else shown.lag_reason or str(NOT_JUDGED_YET)


def _rebalance_reason(shown: ShownGroup) -> str:
    if shown.judged is None:
        return str(NOT_JUDGED_YET)
    if shown.group.membership_at is None:
        return membership_reason(shown.group.membership_error)
    return coded_reason(ReasonCode.NO_REBALANCE)


def _expiry_reason(shown: ShownGroup, unjudged: str) -> str:
    if shown.unread_reason or shown.unjudged_reason or shown.judged is None:
        return unjudged
    return forecast_reason(shown.judged.expiry_forecast)


def forecast_reason(forecast: str) -> str:
    """Why a group has no time at which its messages expire unconsumed."""
    return coded_reason(WITHOUT_EXPIRY.get(forecast, ReasonCode.EXPIRY_UNKNOWN))


def is_forecast_partial(forecast: str | None, lag: int | None) -> bool:
    """Whether a queue that is unknown may lose messages before the time that is known."""
    return lag != 0 and forecast == ExpiryForecast.AT_MOST


def _drain_reason(shown: ShownGroup, fields: dict[str, Any]) -> str:
    if fields["lag_messages"] is None:
        return shown.lag_reason or str(NOT_READ_YET)
    if fields["lag_messages"] == 0:
        return gettext("no lag")
    if shown.unjudged_reason:
        return shown.unjudged_reason
    consumed, produced = fields["consume_rate"], fields["produce_rate"]
    is_slower = None not in (consumed, produced) and consumed < ABOUT_AS_FAST * produced
    if _keeps_up(shown) and not is_slower:
        return gettext("keeps up")
    if consumed is None or produced is None:
        return gettext("the rates are unknown")
    if consumed > produced:
        return str(YOUNG_LAG)
    return coded_reason(ReasonCode.NEVER_DRAINS)


def _keeps_up(shown: ShownGroup) -> bool:
    return shown.verdict.state == State.OK and not shown.verdict.stale and shown.verdict.rule in KEEPING_UP
