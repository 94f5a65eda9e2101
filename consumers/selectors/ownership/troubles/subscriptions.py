"""Members of one group that subscribe to different topics, or to different messages of one.

A broker keeps one subscription a group and topic, the newest, and filters pulls by it (RocketMQ 5.4.0,
ConsumerGroupInfo and PullMessageProcessor).
"""

from collections.abc import Iterator
from datetime import datetime

from django.utils.translation import gettext

from consumers.models import ClientSubscription
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.selectors.ownership.finding import Kind, Level, OwnershipFinding
from consumers.selectors.ownership.shares.member_facts import MemberFacts
from consumers.selectors.rebalances.log_lines import OF_BROKERS
from consumers.selectors.rebalances.rows import LogLine

from .differences import Differing, differing, ids_by_value, second, value_since
from .effects import Effects
from .evidence import Evidence
from .words import ids

NOT_AT_ALL = ""
MOST_TOPICS = 4


def subscriptions_differ(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
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
        said += gettext(" Queues are shared among all, and whoever owns one skips what it does not subscribe to.")
    yield OwnershipFinding(
        kind=Kind.SUBSCRIPTIONS,
        level=Level.PROBLEM,
        sentence=said % _said(found) + effect.sentences,
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


def _said(found: dict[str, Differing]) -> str:
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
