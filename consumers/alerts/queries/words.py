"""What a rule looks for, in words: its measure, its numbers with their units, what it selects."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_lazy, pgettext

from consumers.models import Comparison, Measure, State
from consumers.vocabulary.findings import FindingCode, FindingSeverity
from consumers.words.findings import SEVERITIES, TITLES
from consumers.words.marks import labelled, listed
from consumers.words.spans import age, chosen, messages, percent
from consumers.words.states import STATES

MEASURES = {
    Measure.STATE: gettext_lazy("state"),
    Measure.LAG: gettext_lazy("lag"),
    Measure.TIME_LAG: gettext_lazy("time lag"),
    Measure.EXPIRY: gettext_lazy("time to message expiry"),
    Measure.EXPIRES_UNCONSUMED: gettext_lazy("time until messages expire unconsumed"),
    Measure.DRAIN: gettext_lazy("time to drain"),
    Measure.EXPIRED: gettext_lazy("messages expired before consumption"),
    Measure.RETRY_SHARE: gettext_lazy("retry share"),
    Measure.DLQ_INFLOW: gettext_lazy("DLQ inflow in 5 min"),
    Measure.REBALANCES: gettext_lazy("rebalance episodes in 1 h"),
    Measure.REPEATS: gettext_lazy("repeats in 1 h"),
    Measure.REDELIVERED: gettext_lazy("messages redelivered in 1 h"),
    Measure.UNSETTLED: gettext_lazy("time that members keep changing"),
    Measure.UNOWNED: gettext_lazy("queues without an owner"),
    Measure.DOUBLY_OWNED: gettext_lazy("queues with several owners"),
    Measure.BLOCKED: gettext_lazy("hold time of the oldest message"),
    Measure.FINDINGS: gettext_lazy("findings"),
    Measure.MEMBERS: gettext_lazy("members"),
    Measure.UNKNOWN: gettext_lazy("time unknown"),
    Measure.LOST: gettext_lazy("queues with a lost offset"),
    Measure.BROKER_UNREAD: gettext_lazy("time since the last broker scrape"),
    Measure.NAME_SERVER: gettext_lazy("time since the last name server response"),
    Measure.READING_AGE: gettext_lazy("age of the last scrape"),
    Measure.JUDGEMENT_AGE: gettext_lazy("age of the last evaluation"),
}
MEANINGS = {
    Measure.STATE: gettext_lazy("The evaluated state, as the pages show it."),
    Measure.LAG: gettext_lazy("Messages stored but not committed as consumed, including the retry topic."),
    Measure.TIME_LAG: gettext_lazy("How long the oldest unconsumed message has been waiting."),
    Measure.EXPIRY: gettext_lazy("The earliest time at which a broker may delete the oldest unconsumed message."),
    Measure.EXPIRES_UNCONSUMED: gettext_lazy(
        "When messages may be deleted before the group consumes them, as its time lag rises now."
    ),
    Measure.DRAIN: gettext_lazy("The time until the lag is zero at the current rates."),
    Measure.EXPIRED: gettext_lazy("Messages that the brokers deleted before the group consumed them."),
    Measure.RETRY_SHARE: gettext_lazy("Redeliveries for each consumed message in the last hour."),
    Measure.DLQ_INFLOW: gettext_lazy("Messages that were dead-lettered in the last 5 evaluated minutes."),
    Measure.REBALANCES: gettext_lazy("Rebalances in the last hour; those within a minute of each other count once."),
    Measure.REPEATS: gettext_lazy("Repeats in the last hour whose cause is proven or likely."),
    Measure.REDELIVERED: gettext_lazy("Messages redelivered in the last hour, at least."),
    Measure.UNSETTLED: gettext_lazy("How long the members have been changing without a minute of rest."),
    Measure.UNOWNED: gettext_lazy("Queues that no member consumes although members are connected."),
    Measure.DOUBLY_OWNED: gettext_lazy("Queues that two members consume at the same time."),
    Measure.BLOCKED: gettext_lazy("How long a member has held its oldest unfinished message."),
    Measure.FINDINGS: gettext_lazy("Open findings of the codes and severities that the rule names."),
    Measure.MEMBERS: gettext_lazy("Clients of the group that the brokers list."),
    Measure.UNKNOWN: gettext_lazy("How long the state or the lag has been unknown without an outside cause."),
    Measure.FINDINGS: gettext_lazy("Open findings with the codes and severities that the rule selects."),
    Measure.LOST: gettext_lazy("Queues of a broker whose committed offset is missing."),
    Measure.BROKER_UNREAD: gettext_lazy("The age of the last good scrape of the broker."),
    Measure.NAME_SERVER: gettext_lazy("The age of the last broker list from the name servers."),
    Measure.READING_AGE: gettext_lazy("The age of the last scrape of the cluster."),
    Measure.JUDGEMENT_AGE: gettext_lazy("The age of the last evaluation by the pipeline."),
}
IN_MESSAGES = frozenset({Measure.LAG, Measure.EXPIRED, Measure.REDELIVERED})


def measure_words(measure: str) -> str:
    return str(MEASURES[Measure(measure)])


def number_words(measure: str, number: float, *, is_chosen: bool = False) -> str:
    """With the measure's unit. `is_chosen`: somebody set it, so that a length of time is said in full."""
    if measure.endswith("_seconds"):
        return chosen(number) if is_chosen else age(number)
    if measure == Measure.RETRY_SHARE:
        return percent(number * 100)
    if measure in IN_MESSAGES and number == round(number):
        return messages(round(number))
    return f"{number:,.10g}"


def state_words(states: Sequence[str]) -> str:
    words = [str(STATES[State(state)]) for state in states]
    return gettext(" or ").join(words)


def condition_words(measure: str, comparison: str, threshold: float | None, states: Sequence[str] | None) -> str:
    """`time lag > 5 min`, `state = stalled or stopped`."""
    if comparison == Comparison.IN:
        return gettext("%(measure)s = %(states)s") % {
            "measure": measure_words(measure),
            "states": state_words(states or []),
        }
    number = gettext("unknown") if threshold is None else number_words(measure, threshold, is_chosen=True)
    words = {"measure": measure_words(measure), "number": number}
    if comparison == Comparison.ABOVE:
        return gettext("%(measure)s > %(number)s") % words
    return gettext("%(measure)s < %(number)s") % words


def rule_words(rule: Any) -> str:
    """The rule as a sentence: `time lag > 5 min for 5 min · resolves at ≤ 4 min for 5 min`."""
    words = condition_words(rule.measure, rule.comparison, rule.threshold, rule.states)
    if rule.findings:
        words = gettext("%(condition)s of %(findings)s") % {"condition": words, "findings": _sought(rule.findings)}
    if rule.for_seconds:
        words = gettext("%(condition)s for %(time)s") % {"condition": words, "time": chosen(rule.for_seconds)}
    return gettext("%(condition)s · resolves %(over)s") % {"condition": words, "over": _over(rule)}


def _sought(findings: Sequence[str]) -> str:
    """Of codes and severities; with `-` before a code: not this one."""
    sought = listed(_finding_words(one) for one in findings if not one.startswith("-"))
    left_out = listed(_finding_words(one[1:]) for one in findings if one.startswith("-"))
    if not left_out:
        return sought
    return gettext("%(findings)s, but not %(others)s") % {"findings": sought, "others": left_out}


def _finding_words(name: str) -> str:
    if name in list(FindingSeverity):
        return str(SEVERITIES[FindingSeverity(name)])
    return gettext("“%s”") % TITLES[FindingCode(name)]


def _over(rule: Any) -> str:
    limit = rule.threshold if rule.clear_threshold is None else rule.clear_threshold
    if rule.comparison == Comparison.IN or limit is None:
        return gettext("after %s") % chosen(rule.clear_seconds) if rule.clear_seconds else gettext("at once")
    else:
        template = gettext("at ≤ %s") if rule.comparison == Comparison.ABOVE else gettext("at ≥ %s")
        condition = template % number_words(rule.measure, limit, is_chosen=True)
    if not rule.clear_seconds:
        return condition
    return gettext("%(over)s %(time)s") % {"over": condition, "time": _for(rule.clear_seconds)}


def _for(seconds: float) -> str:
    return pgettext("a span of time", "for %s") % chosen(seconds)


DAY_WORDS = {
    "mon": gettext_lazy("Mon"),
    "tue": gettext_lazy("Tue"),
    "wed": gettext_lazy("Wed"),
    "thu": gettext_lazy("Thu"),
    "fri": gettext_lazy("Fri"),
    "sat": gettext_lazy("Sat"),
    "sun": gettext_lazy("Sun"),
}


def weekly_words(weekly: Mapping[str, Any]) -> str:
    """`Mon, Sun 02:00–04:00 Europe/Berlin`."""
    days = listed(str(DAY_WORDS[day]) for day in weekly["days"])
    return f"{days} {weekly['start']}–{weekly['end']} {weekly['time_zone']}"


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
        parts.append(gettext("with %s") % listed(f"{label}={value}" for label, value in sorted(labels.items())))
    if rule:
        parts.append(gettext("of the rule %s") % rule)
    words = " ".join(parts) or gettext("everything")
    return labelled(gettext(" or ").join(severities), words) if severities else words
