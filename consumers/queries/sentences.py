"""A state, its rule and the numbers it looked at as one sentence, in the language of the request."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.states import State
from consumers.words.marks import clauses
from consumers.words.reasons import WORDED_ABOVE, reason_words, stored_words
from consumers.words.spans import age, count, messages, rate, when, with_plain_times
from consumers.words.states import OF_EVIDENCE, STATES, rule_words

# How a number of `detail` is said. One that is not listed is said by its own name and the unit in it.
PHRASES = {
    "still_seconds": gettext_lazy("no commit for %s"),
    "lag_messages": gettext_lazy("lag %s"),
    "time_lag_seconds": gettext_lazy("time lag %s"),
    "without_members_seconds": gettext_lazy("no member for %s"),
    "unowned_seconds": gettext_lazy("no owner for %s"),
    "drain_seconds": gettext_lazy("time to drain %s"),
    "consume_rate": gettext_lazy("consumes %s"),
    "produce_rate": gettext_lazy("produces %s"),
    "client_id": gettext_lazy("owned by %s"),
    "owners": gettext_lazy("%s owners at once"),
    "owner": gettext_lazy("owner %s"),
    "owner_error": gettext_lazy("owner %s"),
    "members": gettext_lazy("members: %s"),
    "blocked_by": gettext_lazy("cause: %s"),
    "expired_messages": gettext_lazy("%s expired unread"),
    "lost_messages_at_least": gettext_lazy("at least %s lost"),
    "lost_messages_at_most": gettext_lazy("at most %s lost"),
    "lost_offset": gettext_lazy("last known offset %s"),
    "lost_at": gettext_lazy("last read %s"),
    "missing_messages": gettext_lazy("back by %s"),
    "from_offset": gettext_lazy("from offset %s"),
    "to_offset": gettext_lazy("to offset %s"),
    "allowance_seconds": gettext_lazy("threshold %s"),
    "time_lag_at_least_seconds": gettext_lazy("time lag ≥ %s"),
    "limit_seconds": gettext_lazy("limit %s"),
    "readings": gettext_lazy("scrapes: %s"),
    "seen_seconds": gettext_lazy("seen for %s"),
    "seconds_since_read": gettext_lazy("not read for %s"),
    "seconds_since_known": gettext_lazy("lag unknown for %s"),
    "reason": gettext_lazy("%s"),
    "expires_in_seconds": gettext_lazy("oldest message expires in %s"),
    "expiry": gettext_lazy("expiry %s"),
    "unacked_messages": gettext_lazy("%s unacknowledged"),
    "usual_limit_seconds": gettext_lazy("usual time lag up to %s"),
    "outside_store": gettext_lazy("stored by %s"),
    "cause": gettext_lazy("%s"),
}
PLACES = {name: place for place, name in enumerate(PHRASES)}
# Where it was stands in the opening, how many queues there are beside it; a reset is named by its cause.
SAID_ELSEWHERE = frozenset({"topic", "broker", "queue_id", "queues", "reset"})
# What every queue is like goes without saying.
PLAIN = {"lag_messages": 0, "owners": 1}


def sentence(parts: list[str]) -> str:
    return " · ".join(parts)


def state_parts(state: State, rule: str | None, detail: Mapping[str, Any], *, place: str | None = None) -> list[str]:
    """`blocked`, `queue 3 of Stock on broker-a: no commit for 12 min, lag 9,120 messages`. The state itself is shown
    beside them.

    `place` is the queue that decided, where `detail` does not name it. Of a group's state the numbers are that queue's,
    not the group's, so its name stands before them, in one part with them. A number that is null in `detail` was not
    known and is left out.
    """
    opening = rule_words(rule) if rule else str(STATES[state])
    where, numbers = place or _place_in(detail), evidence(detail)
    if where is None:
        return [opening, *numbers]
    if numbers:
        return [opening, gettext("%(place)s: %(numbers)s") % {"place": where, "numbers": clauses(numbers)}]
    return [opening] if state == State.OK else [opening, where]


def queue_words(topic: str, broker: str, queue_id: int) -> str:
    """`queue 3 of Stock on broker-a`"""
    words = {"queue": queue_id, "topic": topic, "broker": broker}
    return gettext("queue %(queue)s of %(topic)s on %(broker)s") % words


def _evidence_of_state(values: Mapping[str, Any]) -> str:
    """Of AlertEvidence.STATE."""
    place = queue_words(*values["place"]) if values["place"] else None
    parts = state_parts(State(values["state"]), values["rule"], values["detail"], place=place)
    return sentence([*parts, *([gettext("as of %s") % with_plain_times(values["as_of"])] if values["as_of"] else [])])


def _reason_of_state(values: Mapping[str, Any]) -> str:
    """Of AlertEvidence.STATE_REASON."""
    opening = rule_words(values["rule"]) if values["rule"] else str(STATES[State.UNKNOWN])
    return sentence([opening, *evidence(values["detail"])])


WORDED_ABOVE[AlertEvidence.STATE.value] = _evidence_of_state
WORDED_ABOVE[AlertEvidence.STATE_REASON.value] = _reason_of_state


def _place_in(detail: Mapping[str, Any]) -> str | None:
    topic, broker, queue_id = (detail.get(name) for name in ("topic", "broker", "queue_id"))
    return None if topic is None or broker is None or queue_id is None else queue_words(topic, broker, queue_id)


def evidence(detail: Mapping[str, Any]) -> list[str]:
    """The numbers of a rule, each said with its unit, a trend's two ends as one; in the order of PHRASES.

    Not in the rule's own order: PostgreSQL keeps none of it.
    """
    shown = {
        name: value
        for name, value in sorted(detail.items(), key=_place_in_sentence)
        if value is not None
        and name not in SAID_ELSEWHERE
        and not isinstance(value, dict | list)
        and PLAIN.get(name) != value
    }
    parts: list[str] = []
    if {"time_lag_from_seconds", "time_lag_to_seconds"} <= shown.keys():
        begun, ended = shown.pop("time_lag_from_seconds"), shown.pop("time_lag_to_seconds")
        # A rise that goes on ends at the time lag of now, which is then said once.
        if shown.get("time_lag_seconds", -1) >= ended:
            ended = shown.pop("time_lag_seconds")
        ends = age(begun), age(ended)
        parts.append(gettext("time lag rose from %s to %s") % ends if ends[0] != ends[1] else ends[0])
    parts.extend(_phrase(name, value) for name, value in shown.items())
    return parts


def _place_in_sentence(item: tuple[str, Any]) -> tuple[int, str]:
    return PLACES.get(item[0], len(PLACES)), item[0]


def _phrase(name: str, value: Any) -> str:
    text = _value_words(name, value)
    if name in PHRASES:
        return str(PHRASES[name]) % text
    words = name
    for unit in ("_seconds", "_messages", "_per_second", "_rate"):
        words = words.removesuffix(unit)
    return f"{words.replace('_', ' ')}: {text}"


def _value_words(name: str, value: Any) -> str:
    """A number with the unit that its name carries; anything else as it is."""
    if name == "lost_at":
        return when(datetime.fromisoformat(value))
    if name in ("owner_error", "cause"):
        return stored_words(str(value))
    if name == "reason":
        return reason_words(str(value))
    if name in OF_EVIDENCE:
        return str(OF_EVIDENCE[name].get(str(value), value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if name.endswith("_seconds") or name.startswith("seconds_"):
        return age(value)
    if "_messages" in name:
        return messages(round(value))
    if name.endswith(("_per_second", "_rate")):
        return rate(value)
    return count(value) if isinstance(value, int) else f"{value:,.3g}"
