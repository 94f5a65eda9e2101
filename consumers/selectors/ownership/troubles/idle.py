"""Members without a queue, and topics with fewer queues than members: more members will not help these."""

from collections.abc import Iterator

from django.utils.translation import gettext, ngettext

from consumers.selectors.ownership.finding import Kind, Level, OwnershipFinding
from consumers.selectors.ownership.shares.member_facts import MemberFacts
from consumers.selectors.ownership.shares.topic_share import TopicShare
from consumers.selectors.text.measures import count

from .evidence import Evidence
from .words import ids, queue_count

MOST_TOPICS = 4


def too_few_queues(evidence: Evidence) -> Iterator[OwnershipFinding]:
    """One for the members that own nothing at all, else one for each topic that leaves members out."""
    if not evidence.is_calm or evidence.shares.why is not None:
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


def _is_idle(evidence: Evidence, member: MemberFacts, owning: set[str]) -> bool:
    """It subscribes to topics with queues, all of them computed, and neither holds one nor is to hold one."""
    ours = [share for share in evidence.topics if share.queues and member.subscribes(share.topic)]
    return bool(ours) and member.client_id not in owning and all(share.why is None for share in ours)


def _idle(evidence: Evidence, idle: list[MemberFacts], computed: list[TopicShare]) -> OwnershipFinding:
    topics = {share.topic: len(share.queues) for share in computed if any(m.subscribes(share.topic) for m in idle)}
    shown = [
        gettext("%(topic)s has %(queues)s") % {"topic": topic, "queues": queue_count(number)}
        for topic, number in sorted(topics.items())[:MOST_TOPICS]
    ]
    words = {
        "n": count(len(idle)),
        "of": count(len(evidence.members)),
        "ids": ids(member.client_id for member in idle),
        "topics": ", ".join(shown),
    }
    one = "%(n)s of %(of)s members owns no queue: %(ids)s. %(topics)s."
    many = "%(n)s of %(of)s members own no queue: %(ids)s. %(topics)s."
    return OwnershipFinding(
        kind=Kind.IDLE,
        level=Level.WARNING,
        sentence=ngettext(one, many, len(idle)) % words,
        cure=gettext("Give the topic more queues, or run fewer members."),
        facts={"client_ids": sorted(member.client_id for member in idle), "topics": topics},
        since=max(evidence.group.settled_at or evidence.now, *(member.seen_since for member in idle)),
    )


def _too_few(evidence: Evidence, share: TopicShare, members: int) -> OwnershipFinding:
    words = {"topic": share.topic, "queues": queue_count(len(share.queues)), "members": count(members)}
    return OwnershipFinding(
        kind=Kind.TOO_FEW_QUEUES,
        level=Level.NOTE,
        sentence=gettext("%(topic)s has %(queues)s for %(members)s members: some own none of it.") % words,
        cure=gettext("Give the topic more queues where it is behind; more members do not help it."),
        facts={"topic": share.topic, "queues": len(share.queues), "members": members},
        since=evidence.group.settled_at,
    )
