"""Members of one group that differ in what they must agree on: strategy, settings, subscriptions."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import datetime

from django.utils.translation import gettext, gettext_lazy

from consumers.models import ClientSubscription
from consumers.ownership.finding import Kind, Level, OwnershipFinding
from consumers.ownership.shares.facts import MESSAGE_MODEL, MemberFacts
from consumers.ownership.troubles.evidence import Effect, Effects, Evidence, ids
from consumers.rebalances.rows import LogLine
from consumers.rebalances.sentences import OF_BROKERS, OF_MEMBERS
from consumers.rocketmq.names import RETRY_PREFIX

# Members of one group that differ in what they must agree on, as each of them says of itself.
Differing = dict[str, list[MemberFacts]]  # by what they say


def differing(evidence: Evidence, said: Callable[[MemberFacts], str | None]) -> Differing:
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


def value_since(found: Differing, began: Callable[[MemberFacts], datetime]) -> dict[str, datetime]:
    return {value: min(began(member) for member in members) for value, members in found.items()}


def second(times: Mapping[Hashable, datetime] | Mapping[str, datetime]) -> datetime:
    return sorted(times.values())[1]


def ids_by_value(found: Differing) -> dict[str, list[str]]:
    """As facts."""
    return {value: sorted(member.client_id for member in members) for value, members in sorted(found.items())}


# Strategy, orderliness and settings in which members of one group differ.
GIVEN = gettext_lazy("assigned by a broker")

# What each is for: RocketMQ 5.4.0, DefaultMQPushConsumer.
SETTINGS = {
    MESSAGE_MODEL: (Level.PROBLEM, gettext_lazy("some share the queues, others consume every queue")),
    "PROP_CONSUME_TYPE": (Level.PROBLEM, gettext_lazy("some push, others pull: they compute shares for each other")),
    "consumeFromWhere": (Level.WARNING, gettext_lazy("where a queue without a committed offset starts depends on who")),
    "maxReconsumeTimes": (Level.WARNING, gettext_lazy("how often a message is tried depends on who consumes it")),
    "consumeMessageBatchMaxSize": (Level.NOTE, gettext_lazy("how many messages one call is given depends on who")),
}

EQUAL = gettext_lazy("Start all members of the group with the same setting.")


def strategies_differ(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
    if not evidence.queues_have_owners:
        return
    found = differing(evidence, lambda member: str(GIVEN) if member.is_given_queues else member.strategy)
    if not found:
        return
    effect = effects.of(Kind.STRATEGIES)
    said = gettext("Members share queues by different strategies: %s. Each computes its own share by its own.")
    yield OwnershipFinding(
        kind=Kind.STRATEGIES,
        level=Level.PROBLEM,
        sentence=said % _differing_values(found) + effect.sentences,
        cure=gettext("Start all members of the group with the same strategy."),
        facts={"strategies": ids_by_value(found)},
        since=since(found),
        log_line=LogLine(OF_MEMBERS, "client rebalanced result changed. allocateMessageQueueStrategyName="),
        unowned=effect.unowned,
        doubly_owned=effect.doubly_owned,
    )


def orderly_and_concurrent(evidence: Evidence) -> Iterator[OwnershipFinding]:
    names = {True: gettext("orderly"), False: gettext("concurrent")}
    found = differing(evidence, lambda member: None if member.orderly is None else names[member.orderly])
    if found:
        said = gettext("Orderly and concurrent members in one group: %s. Concurrent ones take no locks: order is lost.")
        yield OwnershipFinding(
            kind=Kind.ORDERLY_AND_CONCURRENT,
            level=Level.PROBLEM,
            sentence=said % _differing_values(found),
            cure=gettext("Register the same kind of listener in all members, or give each kind a group of its own."),
            facts={"listeners": ids_by_value(found)},
            since=since(found),
        )


def settings_differ(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
    for name, (level, meaning) in SETTINGS.items():
        found = differing(evidence, lambda member, name=name: _setting(member, name))  # type: ignore[misc]
        if not found:
            continue
        effect = effects.of(Kind.SETTINGS) if name == MESSAGE_MODEL else Effect((), ())
        words = {"name": name, "said": _differing_values(found), "meaning": str(meaning)}
        said = gettext("Members differ in %(name)s: %(said)s. Effect: %(meaning)s.") % words
        yield OwnershipFinding(
            kind=Kind.SETTINGS,
            level=level,
            sentence=said + effect.sentences,
            cure=str(EQUAL),
            facts={"setting": name, "values": ids_by_value(found)},
            since=since(found),
            unowned=effect.unowned,
            doubly_owned=effect.doubly_owned,
        )


def _setting(member: MemberFacts, name: str) -> str | None:
    return (member.settings or {}).get(name)


def _differing_values(found: Differing) -> str:
    """`AVG (c1, c2); CIRCLE (c3)`, those that most say first."""
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return "; ".join(f"{value} ({ids(member.client_id for member in members)})" for value, members in ranked)


NOT_AT_ALL = ""

MOST_TOPICS = 4


def subscriptions_differ(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
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
    effect = effects.of(Kind.SUBSCRIPTIONS)
    began = _began(evidence, list(found))
    said = gettext("Members subscribe to different things: %s. Brokers filter for all by what registered last.")
    if evidence.queues_have_owners:
        said += gettext(
            " Queues are shared among all members, and an owner skips messages that it does not subscribe to."
        )
    yield OwnershipFinding(
        kind=Kind.SUBSCRIPTIONS,
        level=Level.PROBLEM,
        sentence=said % _differing_topics(found) + effect.sentences,
        cure=gettext("Give all members the same subscriptions, or each subscription a group of its own."),
        facts={"topics": {topic: ids_by_value(one) for topic, one in found.items()}},
        since=min(_since(topic, one, began) for topic, one in found.items()),
        log_line=LogLine(OF_BROKERS, "subscription changed, "),
        unowned=effect.unowned,
        doubly_owned=effect.doubly_owned,
    )


def _wanted(member: MemberFacts, topic: str) -> str:
    wanted = (member.expressions or {}).get(topic)
    return NOT_AT_ALL if wanted is None else str(wanted)


def _differing_topics(found: dict[str, Differing]) -> str:
    """`Orders: * by c1, c3, not by c2; Payments: …`."""
    shown = [f"{topic}: {_said_of(differences)}" for topic, differences in found.items()][:MOST_TOPICS]
    if len(found) > MOST_TOPICS:
        shown.append(gettext("%d more topics") % (len(found) - MOST_TOPICS))
    return "; ".join(shown)


def _said_of(differences: Differing) -> str:
    parts = []
    for text, members in sorted(differences.items(), key=lambda item: (item[0] == NOT_AT_ALL, -len(item[1]), item[0])):
        words = {"text": text, "ids": ids(member.client_id for member in members)}
        parts.append((gettext("%(text)s by %(ids)s") if text != NOT_AT_ALL else gettext("not by %(ids)s")) % words)
    return ", ".join(parts)


def _began(evidence: Evidence, topics: list[str]) -> dict[tuple[str, str], datetime]:
    """Since when each present member subscribes as it does, by id and topic. One query."""
    rows = ClientSubscription.objects.filter(group=evidence.group, gone_by=None, topic__in=topics)
    return {row[:2]: row[2] for row in rows.values_list("client_id", "topic", "seen_since")}


def _since(topic: str, found: Differing, began: dict[tuple[str, str], datetime]) -> datetime:
    def came(member: MemberFacts) -> datetime:
        return max(member.seen_since, began.get((member.client_id, topic), member.seen_since))

    return second(value_since(found, came))
