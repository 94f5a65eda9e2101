"""What the rows know of groups and their members, from which the questions of a reading are planned."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import Client, Cluster, GroupKind


@dataclass(frozen=True)
class KnownMember:
    """`connections`: its addresses by the name of each broker. `spoke_at` null: it never did."""

    connections: Mapping[str, Sequence[str]]
    spoke_at: datetime | None = None


@dataclass(frozen=True)
class KnownGroup:
    sub_version: datetime | None = None
    members_changed_at: datetime | None = None
    settled_at: datetime | None = None
    members: dict[str, KnownMember] = field(default_factory=dict)


NEVER_SEEN = KnownGroup()


@dataclass(frozen=True)
class Rotation:
    """`groups` in the order of asking. `topics`: those that brokers have (null: nobody knows).

    `blocked`: groups of which a member holds a message that it does not finish.
    """

    groups: Sequence[str]
    known: Mapping[str, KnownGroup] = field(default_factory=dict)
    topics: Collection[str] | None = None
    blocked: Collection[str] = frozenset()

    def of(self, group: str) -> KnownGroup:
        return self.known.get(group, NEVER_SEEN)


def rotation(
    cluster: Cluster,
    seen: Iterable[str],
    topics: Collection[str] | None = None,
    blocked: Collection[str] = frozenset(),
) -> Rotation:
    """Groups that were never asked first, then the longest unasked. Two queries."""
    asked_at: dict[str, datetime | None] = {}
    known: dict[str, KnownGroup] = {}
    columns = ("name", "membership_at", "sub_version", "members_changed_at", "settled_at")
    for name, at, *facts in cluster.groups.filter(kind=GroupKind.USER).values_list(*columns):
        asked_at[name], known[name] = at, KnownGroup(*facts)
    present = Client.objects.filter(group__cluster=cluster, gone_by=None)
    for group, client, connections, at in present.values_list(
        "group__name", "client_id", "connections", "running_info_at"
    ):
        if group in known:
            known[group].members[client] = KnownMember(connections, at)
    names = sorted(
        {*asked_at, *seen}, key=lambda name: (asked_at.get(name) is not None, asked_at.get(name) or name, name)
    )
    return Rotation(names, known, topics, blocked)
