"""Members as the brokers list them: one id with two processes, brokers that list different members, silent members."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.utils.translation import gettext

from consumers.selectors.ownership.finding import Kind, Level, OwnershipFinding
from consumers.selectors.ownership.shares.member_facts import MemberFacts
from consumers.selectors.ownership.shares.sharing import is_broadcasting
from consumers.selectors.ownership.shares.topic_share import TopicShare
from consumers.selectors.ownership.shares.why import Sort
from consumers.selectors.rebalances.log_lines import OF_MEMBERS
from consumers.selectors.rebalances.rows import LogLine
from consumers.selectors.text.measures import age

from .effects import Effects
from .evidence import PATIENCE, Evidence
from .words import ids

# Clients register with every broker as often (RocketMQ 5.4.0, ClientConfig.heartbeatBrokerInterval).
HEARTBEAT = timedelta(seconds=30)
# A broker lists a connection that died without a word for as long (ConsumerManager, 5.4.0).
EXPIRY = timedelta(seconds=120)


def duplicate_ids(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
    """Seen in two readings."""
    found = [m for m in evidence.members if m.processes > 1 and m.duplicated_since and m.last_seen > m.duplicated_since]
    if not found:
        return
    since = min(member.duplicated_since for member in found if member.duplicated_since)
    effect = effects.of(Kind.DUPLICATE_IDS)
    said = gettext("Several processes share a client id: %s.") % "; ".join(map(_connected, found))
    if evidence.now - since < EXPIRY:
        said += gettext(" Or one reconnected, and the broker has yet to drop what is left of its old connection.")
    if is_broadcasting(evidence.group):
        said += gettext(" On one host they write the same file of offsets.")
    else:
        said += gettext(" Each computes its share by the same place in the list.")
    yield OwnershipFinding(
        kind=Kind.DUPLICATE_IDS,
        level=Level.WARNING if is_broadcasting(evidence.group) else Level.PROBLEM,
        sentence=said + effect.sentences,
        cure=gettext("Give each process an instance name of its own: the id is its address, @ and that name."),
        facts={"connections": {member.client_id: dict(member.connections) for member in found}},
        since=since,
        unowned=effect.unowned,
        doubly_owned=effect.doubly_owned,
    )


def _connected(member: MemberFacts) -> str:
    broker, addresses = max(sorted(member.connections.items()), key=lambda item: len(item[1]))
    words = {"id": member.client_id, "addresses": ", ".join(addresses), "broker": broker}
    return gettext("%(id)s is connected to %(broker)s from %(addresses)s") % words


def brokers_differ(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
    """One for all topics; the members have had the time to register, and to learn of the topics' brokers."""
    missing: dict[str, set[str]] = {}
    topics: list[str] = []
    for share in evidence.topics:
        if share.why is None or share.why.sort is not Sort.LISTS or not _is_known(evidence, share):
            continue
        lacking = _lacking(evidence, share)
        if lacking:
            topics.append(share.topic)
        for broker, members in lacking.items():
            missing.setdefault(broker, set()).update(members)
    if not missing:
        return
    effect = effects.of(Kind.BROKERS_DIFFER)
    said = "; ".join(
        gettext("%(broker)s lacks %(ids)s") % {"broker": b, "ids": ids(missing[b])} for b in sorted(missing)
    )
    words = {"said": said, "topics": ids(topics)}
    sentence = (
        gettext("The brokers of %(topics)s list different members: %(said)s. Each client asks one of them.") % words
    )
    yield OwnershipFinding(
        kind=Kind.BROKERS_DIFFER,
        level=Level.PROBLEM,
        sentence=sentence + effect.sentences,
        cure=gettext(
            "Look why the members cannot reach that broker; those that lack a topic of it do not register there."
        ),
        facts={"missing": {broker: sorted(members) for broker, members in sorted(missing.items())}, "topics": topics},
        since=min(_listed_since(member) for member in evidence.members if _is_among(member, missing)),
        log_line=LogLine(OF_MEMBERS, f"[BUG] ConsumerGroup: {evidence.group.name} The consumerId: "),
        unowned=effect.unowned,
        doubly_owned=effect.doubly_owned,
    )


def _is_known(evidence: Evidence, share: TopicShare) -> bool:
    return all(evidence.is_known_by_clients(share, queue) for queue in share.queues)


def _lacking(evidence: Evidence, share: TopicShare) -> dict[str, set[str]]:
    """By broker the members that another one lists, or lists with more connections, for longer than a heartbeat."""
    found: dict[str, set[str]] = {}
    for member in evidence.members:
        counts = {broker: listed[member.client_id] for broker, listed in share.lists.items()}
        since = _listed_since(member)
        if evidence.now - since <= HEARTBEAT or member.last_seen <= since:
            continue
        for broker, count in counts.items():
            if count < max(counts.values()):
                found.setdefault(broker, set()).add(member.client_id)
    return found


def _listed_since(member: MemberFacts) -> datetime:
    return max(member.listed_since or member.seen_since, member.duplicated_since or member.seen_since)


def _is_among(member: MemberFacts, missing: dict[str, set[str]]) -> bool:
    return any(member.client_id in members for members in missing.values())


def silent(evidence: Evidence) -> Iterator[OwnershipFinding]:
    """Members that have not answered for so long that more than one question went by."""
    found = [m for m in evidence.silent if m.error and evidence.now - (m.answered_at or m.seen_since) >= PATIENCE]
    for member in found:
        words = {
            "id": member.client_id,
            "age": age((evidence.now - (member.answered_at or member.seen_since)).total_seconds()),
            "error": member.error,
        }
        said = (
            gettext("%(id)s has not said for %(age)s what it holds: %(error)s")
            if member.answered_at
            else gettext("%(id)s has never said what it holds, in %(age)s: %(error)s")
        )
        yield OwnershipFinding(
            kind=Kind.SILENT,
            level=Level.WARNING,
            sentence=said % words,
            cure=gettext("Look whether it hangs: it is connected, so it keeps its queues."),
            facts={"client_id": member.client_id, "error": member.error},
            since=member.answered_at,
        )
