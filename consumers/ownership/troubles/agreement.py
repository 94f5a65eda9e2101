"""Members of one group that differ in what they must agree on: strategy, settings, subscriptions."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import datetime
from typing import Any

from consumers.models import ClientSubscription
from consumers.ownership.reports import MESSAGE_MODEL, MemberReport
from consumers.ownership.troubles.evidence import Effect, Effects, Evidence
from consumers.queries.findings import NOT_AT_ALL, DetectedFinding
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.findings import FindingCode, FindingSeverity

Differing = dict[str, list[MemberReport]]  # by what they say


def differing(evidence: Evidence, said: Callable[[MemberReport], str | None]) -> Differing:
    """Empty where all that say anything agree. Those that have not said (None) prove no difference."""
    found: Differing = {}
    for member in evidence.members:
        value = said(member) if member.spoke else None
        if value is not None:
            found.setdefault(value, []).append(member)
    return found if len(found) > 1 else {}


def since(found: Differing) -> datetime:
    """When the second of them came to be."""
    return second(value_since(found, lambda member: member.seen_since))


def value_since(found: Differing, began: Callable[[MemberReport], datetime]) -> dict[str, datetime]:
    return {value: min(began(member) for member in members) for value, members in found.items()}


def second(times: Mapping[Hashable, datetime] | Mapping[str, datetime]) -> datetime:
    return sorted(times.values())[1]


def ids_by_value(found: Differing) -> dict[str, list[str]]:
    """As facts."""
    return {value: sorted(member.client_id for member in members) for value, members in sorted(found.items())}


# Strategy, orderliness and settings in which members of one group differ.
# RocketMQ 5.4.0, DefaultMQPushConsumer; what each is for is in the finding's notes.
SETTINGS = {
    MESSAGE_MODEL: FindingSeverity.CRITICAL,
    "PROP_CONSUME_TYPE": FindingSeverity.CRITICAL,
    "consumeFromWhere": FindingSeverity.WARNING,
    "maxReconsumeTimes": FindingSeverity.WARNING,
    "consumeMessageBatchMaxSize": FindingSeverity.INFO,
}
BY_BROKER = "by_broker"


def strategies_differ(evidence: Evidence, effects: Effects) -> Iterator[DetectedFinding]:
    if not evidence.queues_have_owners:
        return
    found = differing(evidence, lambda member: BY_BROKER if member.is_given_queues else member.strategy)
    if not found:
        return
    effect = effects.of(FindingCode.STRATEGIES_DIFFER)
    yield DetectedFinding(
        code=FindingCode.STRATEGIES_DIFFER,
        params={"strategies": ids_by_value(found)},
        since=since(found),
        unowned=effect.unowned,
        doubly_owned=effect.doubly_owned,
    )


def orderly_and_concurrent(evidence: Evidence) -> Iterator[DetectedFinding]:
    names = {True: "orderly", False: "concurrent", None: None}
    found = differing(evidence, lambda member: names[member.orderly])
    if found:
        yield DetectedFinding(
            code=FindingCode.ORDERLY_AND_CONCURRENT, params={"listeners": ids_by_value(found)}, since=since(found)
        )


def settings_differ(evidence: Evidence, effects: Effects) -> Iterator[DetectedFinding]:
    for name, severity in SETTINGS.items():
        found = differing(evidence, lambda member, name=name: _setting(member, name))  # type: ignore[misc]
        if not found:
            continue
        effect = effects.of(FindingCode.SETTINGS_DIFFER) if name == MESSAGE_MODEL else Effect((), ())
        yield DetectedFinding(
            code=FindingCode.SETTINGS_DIFFER,
            key=name,
            given_severity=severity,
            params={"setting": name, "values": ids_by_value(found), "notes": [name]},
            since=since(found),
            unowned=effect.unowned,
            doubly_owned=effect.doubly_owned,
        )


def _setting(member: MemberReport, name: str) -> str | None:
    return (member.settings or {}).get(name)


def subscriptions_differ(evidence: Evidence, effects: Effects) -> Iterator[DetectedFinding]:
    """Members of one group that subscribe to different topics, or to different messages of one.

    A broker keeps one subscription a group and topic, the newest, and filters pulls by it (RocketMQ 5.4.0,
    ConsumerGroupInfo and PullMessageProcessor).
    """
    topics = sorted({topic for member in evidence.members for topic in member.expressions or ()})
    found = {
        topic: differences
        for topic in topics
        if not topic.startswith(RETRY_PREFIX)
        and (differences := differing(evidence, lambda member, topic=topic: _wanted(member, topic)))  # type: ignore[misc]
    }
    if not found:
        return
    effect = effects.of(FindingCode.SUBSCRIPTIONS_DIFFER)
    began = _began(evidence, list(found))
    params: dict[str, Any] = {"topics": {topic: ids_by_value(one) for topic, one in found.items()}}
    yield DetectedFinding(
        code=FindingCode.SUBSCRIPTIONS_DIFFER,
        params=params | ({"notes": ["shared"]} if evidence.queues_have_owners else {}),
        since=min(_since(topic, one, began) for topic, one in found.items()),
        unowned=effect.unowned,
        doubly_owned=effect.doubly_owned,
    )


def _wanted(member: MemberReport, topic: str) -> str:
    wanted = (member.expressions or {}).get(topic)
    return NOT_AT_ALL if wanted is None else str(wanted)


def _began(evidence: Evidence, topics: list[str]) -> dict[tuple[str, str], datetime]:
    """Since when each present member subscribes as it does, by id and topic. One query."""
    rows = ClientSubscription.objects.filter(group=evidence.group, gone_by=None, topic__in=topics)
    return {row[:2]: row[2] for row in rows.values_list("client_id", "topic", "seen_since")}


def _since(topic: str, found: Differing, began: dict[tuple[str, str], datetime]) -> datetime:
    def came(member: MemberReport) -> datetime:
        return max(member.seen_since, began.get((member.client_id, topic), member.seen_since))

    return second(value_since(found, came))
