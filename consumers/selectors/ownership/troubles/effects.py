"""Which queues a cause leaves to nobody or gives to two: told with their cause, and not once more without it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext

from consumers.rocketmq.allocation.queue_key import QueueKey
from consumers.selectors.ownership.finding import Kind
from consumers.selectors.ownership.shares.group_shares import strategies
from consumers.selectors.ownership.shares.topic_share import TopicShare
from consumers.selectors.ownership.shares.why import Sort

from .evidence import Evidence
from .words import queues

Queues = dict[Kind, list[tuple[TopicShare, int]]]


@dataclass(frozen=True)
class Effect:
    """What one cause leads to."""

    unowned: Sequence[QueueKey]
    doubly_owned: Sequence[QueueKey]

    @property
    def sentences(self) -> str:
        """To be put after the cause."""
        said = [gettext(" Consumed by two: %s.") % queues(self.doubly_owned)] if self.doubly_owned else []
        said += [gettext(" Consumed by nobody: %s.") % queues(self.unowned)] if self.unowned else []
        return "".join(said)


@dataclass(frozen=True)
class Effects:
    unowned: Queues = field(default_factory=dict)
    doubly_owned: Queues = field(default_factory=dict)

    def of(self, kind: Kind) -> Effect:
        unowned, doubly_owned = (
            sorted(share.queues[queue] for share, queue in found.get(kind, ()))
            for found in (self.unowned, self.doubly_owned)
        )
        return Effect(unowned, doubly_owned)


def effects(evidence: Evidence) -> Effects:
    found = Effects()
    for share in evidence.topics:
        for queue in evidence.nobodys(share):
            found.unowned.setdefault(_cause_of_none(evidence, share, queue), []).append((share, queue))
        for queue in _held_by_processes(evidence, share):
            found.doubly_owned.setdefault(Kind.DUPLICATE_IDS, []).append((share, queue))
        for queue in evidence.held_twice(share):
            found.doubly_owned.setdefault(_cause_of_two(evidence, share), []).append((share, queue))
    return found


def _cause_of_none(evidence: Evidence, share: TopicShare, queue: int) -> Kind:
    if share.why is not None and share.why.sort is Sort.LISTS:
        return Kind.BROKERS_DIFFER
    if queue in share.fallen:
        return Kind.SUBSCRIPTIONS
    computed_by_nobody = evidence.shares.why is None and queue not in share.owners
    if computed_by_nobody and len(strategies(evidence.members)) > 1:
        return Kind.STRATEGIES
    if computed_by_nobody and share.why is None and any(member.processes > 1 for member in evidence.members):
        return Kind.DUPLICATE_IDS
    return Kind.UNOWNED


def _cause_of_two(evidence: Evidence, share: TopicShare) -> Kind:
    if share.why is not None and share.why.sort is Sort.LISTS:
        return Kind.BROKERS_DIFFER
    if evidence.shares.why is not None and evidence.shares.why.sort is Sort.MODELS:
        return Kind.SETTINGS
    return Kind.STRATEGIES if len(strategies(evidence.members)) > 1 else Kind.DOUBLY_OWNED


def _held_by_processes(evidence: Evidence, share: TopicShare) -> list[int]:
    """A broker asks one of the processes with an id: that both hold a queue follows from what they compute."""
    if not (evidence.is_calm and evidence.has_owners(share)) or share.why is not None:
        return []
    return [
        queue
        for queue, owners in share.owners.items()
        if len(set(owners)) < len(owners) and {one.client_id for one in evidence.held.get(queue, ())} <= set(owners)
    ]
