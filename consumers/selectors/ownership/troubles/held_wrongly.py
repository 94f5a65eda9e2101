"""Queues that two members hold, or another one than is expected."""

from collections.abc import Iterator

from django.utils.translation import gettext

from consumers.selectors.ownership.finding import Kind, Level, OwnershipFinding
from consumers.selectors.ownership.shares.group_shares import strategies
from consumers.selectors.ownership.shares.topic_share import TopicShare
from consumers.selectors.rebalances.log_lines import OF_MEMBERS
from consumers.selectors.rebalances.rows import LogLine

from .effects import Effects
from .evidence import Evidence, keys
from .words import ids, queues

LOG_LINE = LogLine(OF_MEMBERS, "client rebalanced result changed")


def doubly_owned(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
    """One for each topic and set of owners."""
    by_owners: dict[tuple[str, tuple[str, ...]], tuple[TopicShare, list[int]]] = {}
    for share, queue in effects.doubly_owned.get(Kind.DOUBLY_OWNED, ()):
        owners = tuple(sorted({one.client_id for one in evidence.held[queue]}))
        by_owners.setdefault((share.topic, owners), (share, []))[1].append(queue)
    for (topic, owners), (share, found) in by_owners.items():
        places = keys(share, found)
        words = {"ids": ids(owners), "queues": queues(places)}
        yield OwnershipFinding(
            kind=Kind.DOUBLY_OWNED,
            level=Level.PROBLEM,
            sentence=gettext("Consumed by two: %(queues)s, by %(ids)s. Their messages are consumed twice.") % words,
            cure=gettext(
                "Compare the logs of %(ids)s: the numbers of clients and queues in the line tell who is wrong."
            )
            % words,
            facts={"topic": topic, "owners": list(owners)},
            since=max(sorted(one.seen_since for one in evidence.held[queue])[1] for queue in found),
            doubly_owned=places,
            log_line=LOG_LINE,
        )


def unexpected(evidence: Evidence) -> Iterator[OwnershipFinding]:
    """One for each topic, holder and expected owner. Only where everything is computed, and calm."""
    if not evidence.is_calm or evidence.shares.why is not None or len(strategies(evidence.members)) > 1:
        return
    for share in evidence.topics:
        found: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for queue, holders in evidence.held.items():
            if queue not in share.queues or share.why is not None or len(holders) != 1:
                continue
            owners = tuple(sorted(set(share.owners.get(queue, ()))))
            if holders[0].client_id not in owners and evidence.is_known_by_clients(share, queue):
                found.setdefault((holders[0].client_id, owners), []).append(queue)
        for (holder, owners), of_holder in found.items():
            yield _unexpected(evidence, share, holder, owners, of_holder)


def _unexpected(
    evidence: Evidence, share: TopicShare, holder: str, owners: tuple[str, ...], found: list[int]
) -> OwnershipFinding:
    places = keys(share, found)
    words = {"queues": queues(places), "holder": holder, "ids": ids(owners) or gettext("nobody")}
    return OwnershipFinding(
        kind=Kind.UNEXPECTED,
        level=Level.WARNING,
        sentence=gettext("%(holder)s holds what falls to %(ids)s: %(queues)s.") % words,
        cure=gettext("Search the log of %(holder)s for the line: it tells from how many clients and queues it shares.")
        % words,
        facts={"topic": share.topic, "holder": holder, "expected": list(owners)},
        since=min(evidence.held[queue][0].seen_since for queue in found),
        queues=places,
        log_line=LOG_LINE,
    )
