"""What a rule looks for, in words: its measure, its numbers with their units, what it selects."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_lazy, pgettext

from consumers.models import Comparison, Measure, State
from consumers.queries.texts import age, chosen, messages
from consumers.words.states import STATES

MEASURES = {
    Measure.STATE: gettext_lazy("state"),
    Measure.LAG: gettext_lazy("lag"),
    Measure.TIME_LAG: gettext_lazy("time lag"),
    Measure.EXPIRY: gettext_lazy("time until messages expire"),
    Measure.DRAIN: gettext_lazy("time to drain"),
    Measure.EXPIRED: gettext_lazy("messages that expired unread"),
    Measure.RETRY_SHARE: gettext_lazy("share of redeliveries"),
    Measure.DLQ_INFLOW: gettext_lazy("dead letters within five minutes"),
    Measure.REBALANCES: gettext_lazy("rebalance episodes within an hour"),
    Measure.UNSETTLED: gettext_lazy("time that members have been changing"),
    Measure.UNOWNED: gettext_lazy("queues without an owner"),
    Measure.DOUBLY_OWNED: gettext_lazy("queues with several owners"),
    Measure.BLOCKED: gettext_lazy("time that a message has been held"),
    Measure.MEMBERS: gettext_lazy("members"),
    Measure.UNKNOWN: gettext_lazy("time for which a group is not known"),
    Measure.LOST: gettext_lazy("queues with a lost offset"),
    Measure.BROKER_UNREAD: gettext_lazy("time since a broker was read"),
    Measure.NAME_SERVER: gettext_lazy("time since a name server answered"),
    Measure.READING_AGE: gettext_lazy("age of the newest reading"),
    Measure.JUDGEMENT_AGE: gettext_lazy("age of the newest judgement"),
}
IN_MESSAGES = frozenset({Measure.LAG, Measure.EXPIRED})


def measure_words(measure: str) -> str:
    return str(MEASURES[Measure(measure)])


def number_words(measure: str, number: float, *, is_chosen: bool = False) -> str:
    """With the measure's unit. `is_chosen`: somebody set it, so that a length of time is said in full."""
    if measure.endswith("_seconds"):
        return chosen(number) if is_chosen else age(number)
    if measure == Measure.RETRY_SHARE:
        return f"{number:.1%}".replace(".0%", "%")
    if measure in IN_MESSAGES and number == round(number):
        return messages(round(number))
    return f"{number:,.10g}"


def state_words(states: Sequence[str]) -> str:
    words = [str(STATES[State(state)]) for state in states]
    return gettext(" or ").join(words)


def condition_words(measure: str, comparison: str, threshold: float | None, states: Sequence[str] | None) -> str:
    """`time lag above 5 min`, `state stalled or stopped`."""
    if comparison == Comparison.IN:
        return gettext("%(measure)s %(states)s") % {
            "measure": measure_words(measure),
            "states": state_words(states or []),
        }
    number = gettext("unknown") if threshold is None else number_words(measure, threshold, is_chosen=True)
    words = {"measure": measure_words(measure), "number": number}
    if comparison == Comparison.ABOVE:
        return gettext("%(measure)s above %(number)s") % words
    return gettext("%(measure)s below %(number)s") % words


def rule_words(rule: Any) -> str:
    """The rule as a sentence: `time lag above 5 min for 5 min; over once it was at most 4 min for 5 min`."""
    words = condition_words(rule.measure, rule.comparison, rule.threshold, rule.states)
    if rule.for_seconds:
        words = gettext("%(condition)s for %(time)s") % {"condition": words, "time": chosen(rule.for_seconds)}
    return gettext("%(condition)s; over once it %(over)s") % {"condition": words, "over": _over(rule)}


def _over(rule: Any) -> str:
    limit = rule.threshold if rule.clear_threshold is None else rule.clear_threshold
    if rule.comparison == Comparison.IN or limit is None:
        over = gettext("was another one")
    else:
        template = gettext("was at most %s") if rule.comparison == Comparison.ABOVE else gettext("was at least %s")
        over = template % number_words(rule.measure, limit, is_chosen=True)
    return f"{over} {_for(rule.clear_seconds)}" if rule.clear_seconds else over


def _for(seconds: float) -> str:
    return pgettext("a span of time", "for %s") % chosen(seconds)


def selection_words(
    *,
    cluster: str,
    group_pattern: str,
    topic: str = "",
    rule: str = "",
    labels: Mapping[str, str] | None = None,
    severities: Sequence[str] = (),
) -> str:
    """`groups bill* on prod with team=payments`; `everything` where nothing is selected."""
    parts = []
    if group_pattern:
        parts.append(gettext("groups %s") % group_pattern)
    if cluster:
        parts.append(gettext("on %s") % cluster if parts else gettext("everything on %s") % cluster)
    if topic:
        parts.append(gettext("topic %s") % topic)
    if labels:
        parts.append(gettext("with %s") % ", ".join(f"{label}={value}" for label, value in sorted(labels.items())))
    if rule:
        parts.append(gettext("of the rule %s") % rule)
    words = " ".join(parts) or gettext("everything")
    return f"{gettext(' or ').join(severities)}: {words}" if severities else words
