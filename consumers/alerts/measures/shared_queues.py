"""Queues that nobody holds, or two members, of all groups at once: the same ones as the check of one group finds.

The database looks for suspects; what members said of themselves then decides.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef

from consumers.models import Assignment, Client, Queue, QueueSnapshot, TopicKind
from consumers.selectors.ownership.known_queue import COLUMNS, KnownQueue
from consumers.selectors.ownership.topic_share import POP
from consumers.selectors.ownership.troubles.evidence import ROUTE

from .silent import silent_groups

CHUNK = 500
Suspects = Mapping[int, Collection[int]]  # queue ids by group id


class Found(NamedTuple):
    """`topics`: {topic: how many of its queues}. `unsure`: a member that has not said what it holds, or ""."""

    topics: Mapping[str, int]
    unsure: str


NOTHING_FOUND = Found({}, "")


@dataclass
class Members:
    """What the present members of one group said; `topics`: to which they subscribe, but those that are popped."""

    topics: set[str] = field(default_factory=set)
    popped: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)


def nobodys(groups: Collection[int], now: datetime) -> dict[int, Found]:
    """Of those of `groups` that have offsets of a queue that no member holds. Retry topics are left out."""
    held = Assignment.objects.filter(group=OuterRef("group"), queue=OuterRef("queue"), gone_by=None)
    rows = QueueSnapshot.objects.filter(~Exists(held), queue__readable=True, group__members__gt=0)
    suspects = _by_group(rows.exclude(queue__topic__kind=TopicKind.RETRY).values_list("group_id", "queue_id"), groups)
    return {
        group: Found({} if members.silent else topics, min(members.silent, default=""))
        for group, members, topics in _counted(suspects, heard_of=now - ROUTE)
    }


def held_twice(groups: Collection[int], now: datetime) -> dict[int, Found]:
    """Of those of `groups` with a queue that several members hold, or a member that does not say what it holds.

    What a silent member held is kept, and proves nothing.
    """
    rows = Assignment.objects.filter(gone_by=None).order_by().values_list("group_id", "queue_id")
    suspects = _by_group((one[:2] for one in rows.annotate(n=Count("pk")).filter(n__gt=1)), groups)
    found = {group: Found({}, client_id) for group, client_id in silent_groups().items() if group in groups}
    silent = _silent_holders(suspects)
    proven = {group: [one for one in queues if (group, one) not in silent] for group, queues in suspects.items()}
    for group, members, topics in _counted(proven):
        found[group] = Found(topics, min(members.silent, default=""))
    return found


def _by_group(pairs: Iterable[tuple[int, int]], groups: Collection[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for group, queue in pairs:
        if group in groups:
            found.setdefault(group, []).append(queue)
    return found


def _counted(suspects: Suspects, heard_of: datetime | None = None) -> Iterator[tuple[int, Members, dict[str, int]]]:
    """The suspects that clients read, of topics that members subscribe to. `heard_of`: younger ones are left out, of
    which nobody need have heard yet.
    """
    members = _members(suspects)
    queues = _queues({queue for of_group in suspects.values() for queue in of_group})
    for group, of_group in suspects.items():
        said, topics = members.get(group, Members()), dict[str, int]()
        for queue in (queues[pk] for pk in of_group if pk in queues):
            is_theirs = queue.topic in said.topics - said.popped and queue.readable
            is_young = heard_of is not None and queue.there_since is not None and queue.there_since > heard_of
            if is_theirs and not is_young:
                topics[queue.topic] = topics.get(queue.topic, 0) + 1
        yield group, said, topics


def _queues(wanted: Collection[int]) -> dict[int, KnownQueue]:
    found: dict[int, KnownQueue] = {}
    for part in _parts(wanted):
        rows = Queue.objects.filter(pk__in=part).exclude(topic__kind=TopicKind.RETRY).values_list(*COLUMNS)
        found |= {one.pk: one for one in map(KnownQueue._make, rows)}
    return found


def _members(groups: Collection[int]) -> dict[int, Members]:
    found: dict[int, Members] = {}
    columns = ("group_id", "client_id", "running_info_at", "running_info_error", "subscriptions", "broker_assigned")
    for part in _parts(groups):
        rows: Iterable[tuple[Any, ...]] = Client.objects.filter(group__in=part, gone_by=None).values_list(*columns)
        for group, client_id, answered_at, error, subscriptions, assigned in rows:
            members = found.setdefault(group, Members())
            members.topics |= {one["topic"] for one in subscriptions or ()}
            members.popped |= {str(one["topic"]) for one in assigned or () if one.get("mode") == POP}
            if error is not None or answered_at is None or subscriptions is None:
                members.silent.add(client_id)
    return found


def _silent_holders(suspects: Suspects) -> set[tuple[int, int]]:
    """(group id, queue id) of queues with a holder that did not answer when it was asked last."""
    members, found = _members(suspects), set[tuple[int, int]]()
    wanted = {group for group in suspects if members.get(group, Members()).silent}
    for part in _parts(wanted):
        rows = Assignment.objects.filter(group__in=part, gone_by=None).values_list("group_id", "queue_id", "client_id")
        found |= {(group, queue) for group, queue, client_id in rows if client_id in members[group].silent}
    return found


def _parts(wanted: Collection[int]) -> Iterator[list[int]]:
    """SQLite takes no more than some thousand parameters in one statement."""
    ordered = sorted(wanted)
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]
