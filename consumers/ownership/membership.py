"""What is wrong with members: how brokers list them, queues and locks that they lack, and where they disagree."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from consumers.models import ClientSubscription
from consumers.ownership.evidence import PATIENCE, Effect, Effects, Evidence, Held, keys
from consumers.ownership.group_shares import TopicShare
from consumers.ownership.reports import MESSAGE_MODEL, MemberReport, Sort, is_broadcasting
from consumers.queries.findings import NOT_AT_ALL, DetectedFinding
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.findings import FindingCode, FindingSeverity

# Members as the brokers list them: one id with two processes, brokers that list different members, silent members.
# Clients register with every broker as often (RocketMQ 5.4.0, ClientConfig.heartbeatBrokerInterval).
HEARTBEAT = timedelta(seconds=30)

# A broker lists a connection that died without a word for as long (ConsumerManager, 5.4.0).
EXPIRY = timedelta(seconds=120)


def duplicate_ids(evidence: Evidence, effects: Effects) -> Iterator[DetectedFinding]:
    """Seen in two readings."""
    found = [m for m in evidence.members if m.processes > 1 and m.duplicated_since and m.last_seen > m.duplicated_since]
    if not found:
        return
    since = min(member.duplicated_since for member in found if member.duplicated_since)
    effect = effects.of(FindingCode.DUPLICATE_CLIENT_IDS)
    notes = ["reconnecting"] if evidence.now - since < EXPIRY else []
    notes.append("same_file" if is_broadcasting(evidence.group) else "same_share")
    yield DetectedFinding(
        code=FindingCode.DUPLICATE_CLIENT_IDS,
        given_severity=FindingSeverity.WARNING if is_broadcasting(evidence.group) else None,
        params={"connections": {member.client_id: dict(member.connections) for member in found}, "notes": notes},
        since=since,
        unowned=effect.unowned,
        doubly_owned=effect.doubly_owned,
    )


def brokers_differ(evidence: Evidence, effects: Effects) -> Iterator[DetectedFinding]:
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
    effect = effects.of(FindingCode.BROKERS_DIFFER)
    yield DetectedFinding(
        code=FindingCode.BROKERS_DIFFER,
        params={"missing": {broker: sorted(members) for broker, members in sorted(missing.items())}, "topics": topics},
        since=min(_listed_since(member) for member in evidence.members if _is_among(member, missing)),
        unowned=effect.unowned,
        doubly_owned=effect.doubly_owned,
    )


def _is_known(evidence: Evidence, share: TopicShare) -> bool:
    return all(evidence.is_known_by_clients(share, queue) for queue in share.queues)


def _lacking(evidence: Evidence, share: TopicShare) -> dict[str, set[str]]:
    """By broker the members that another one lists, or lists with more connections, for longer than a heartbeat."""
    found: dict[str, set[str]] = {}
    for member in evidence.members:
        listed_times = {broker: listed[member.client_id] for broker, listed in share.lists.items()}
        since = _listed_since(member)
        if evidence.now - since <= HEARTBEAT or member.last_seen <= since:
            continue
        for broker, times in listed_times.items():
            if times < max(listed_times.values()):
                found.setdefault(broker, set()).add(member.client_id)
    return found


def _listed_since(member: MemberReport) -> datetime:
    return max(member.listed_since or member.seen_since, member.duplicated_since or member.seen_since)


def _is_among(member: MemberReport, missing: dict[str, set[str]]) -> bool:
    return any(member.client_id in members for members in missing.values())


def silent(evidence: Evidence) -> Iterator[DetectedFinding]:
    """Members that have not answered for so long that more than one question went by."""
    found = [m for m in evidence.silent if m.error and evidence.now - (m.answered_at or m.seen_since) >= PATIENCE]
    for member in found:
        silent_seconds = (evidence.now - (member.answered_at or member.seen_since)).total_seconds()
        params = {"client_id": member.client_id, "error": member.error, "silent_seconds": silent_seconds}
        yield DetectedFinding(
            code=FindingCode.SILENT_MEMBER,
            key=member.client_id,
            params=params if member.answered_at else params | {"notes": ["never"]},
            since=member.answered_at,
        )


# Members without a queue, and topics with fewer queues than members: more members will not help these.


def too_few_queues(evidence: Evidence) -> Iterator[DetectedFinding]:
    """One for the members that own nothing at all, else one for each topic that leaves members out."""
    if not evidence.is_stable or evidence.shares.why is not None:
        return
    computed = [share for share in evidence.topics if share.queues and share.why is None]
    owning = {client_id for share in computed for owners in share.owners.values() for client_id in owners}
    owning |= {one.client_id for holders in evidence.held.values() for one in holders}
    idle = [member for member in evidence.members if _is_idle(evidence, member, owning)]
    if idle:
        yield _idle(evidence, idle, computed)
        return
    for share in computed:
        subscribers = [member for member in evidence.members if member.subscribes(share.topic)]
        if len(share.queues) < len(subscribers):
            yield _too_few(evidence, share, len(subscribers))


def _is_idle(evidence: Evidence, member: MemberReport, owning: set[str]) -> bool:
    """It subscribes to topics with queues, all of them computed, and neither holds one nor is to hold one."""
    ours = [share for share in evidence.topics if share.queues and member.subscribes(share.topic)]
    return bool(ours) and member.client_id not in owning and all(share.why is None for share in ours)


def _idle(evidence: Evidence, idle: list[MemberReport], computed: list[TopicShare]) -> DetectedFinding:
    topics = {share.topic: len(share.queues) for share in computed if any(m.subscribes(share.topic) for m in idle)}
    return DetectedFinding(
        code=FindingCode.IDLE_MEMBERS,
        params={
            "client_ids": sorted(member.client_id for member in idle),
            "idle": len(idle),
            "members": len(evidence.members),
            "topics": topics,
        },
        since=max(evidence.group.settled_at or evidence.now, *(member.seen_since for member in idle)),
    )


def _too_few(evidence: Evidence, share: TopicShare, members: int) -> DetectedFinding:
    return DetectedFinding(
        code=FindingCode.TOO_FEW_QUEUES,
        key=share.topic,
        params={"topic": share.topic, "queues": len(share.queues), "members": members},
        since=evidence.group.settled_at,
    )


# Orderly members that hold a queue whose lock they could not renew: they stop consuming it.
#
# Members renew all locks every 20 s and take one for lost after 30 s (RocketMQ 5.4.0, ProcessQueue.isLockExpired).
LOCK_HOLDS = timedelta(seconds=30)


def locks_lost(evidence: Evidence) -> Iterator[DetectedFinding]:
    """One for each topic and member. Times are compared with the member's own clock, as far as its answer shows it."""
    if is_broadcasting(evidence.group):
        return
    clocks = _clocks(evidence)
    orderly = {member.client_id for member in evidence.members if member.orderly and member.error is None}
    for share in evidence.topics:
        lost: dict[str, list[tuple[int, Held]]] = {}
        for queue in share.queues:
            for one in evidence.held.get(queue, ()):
                if one.client_id in orderly and _is_lost(one, clocks.get(one.client_id)):
                    lost.setdefault(one.client_id, []).append((queue, one))
        for client_id, found in lost.items():
            yield _lost(share, client_id, found, clocks[client_id])


def _clocks(evidence: Evidence) -> dict[str, datetime]:
    """The newest time that each member named of any of its queues: its clock was at that at least when it answered."""
    newest: dict[str, datetime] = {}
    for one in (one for holders in evidence.held.values() for one in holders):
        for at in (one.last_lock_at, one.last_pull_at, one.last_consume_at):
            if at is not None:
                newest[one.client_id] = max(at, newest.get(one.client_id, at))
    return newest


def _is_lost(one: Held, clock: datetime | None) -> bool:
    return clock is not None and one.last_lock_at is not None and clock - one.last_lock_at > LOCK_HOLDS


def _lost(share: TopicShare, client_id: str, found: list[tuple[int, Held]], clock: datetime) -> DetectedFinding:
    oldest = min(one.last_lock_at for _, one in found if one.last_lock_at is not None)
    return DetectedFinding(
        code=FindingCode.LOCK_LOST,
        key=f"{share.topic} {client_id}",
        params={
            "client_id": client_id,
            "topic": share.topic,
            "last_lock_at": oldest.isoformat(),
            "renewed_seconds": (clock - oldest).total_seconds(),
        },
        since=oldest + LOCK_HOLDS,
        queues=keys(share, [queue for queue, _ in found]),
    )


# Members of one group that differ in what they must agree on: strategy, settings, subscriptions.
Differing = dict[str, list[MemberReport]]  # by what they say


def differing(evidence: Evidence, value_of: Callable[[MemberReport], str | None]) -> Differing:
    """Empty where all that say anything agree. Those that have not said (None) prove no difference."""
    found: Differing = {}
    for member in evidence.members:
        value = value_of(member) if member.has_answered else None
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
