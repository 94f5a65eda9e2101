"""Members as intervals: from the reading that first listed a connection to the one that lacked it.

A member that any broker lists is there; one that no broker lists is gone when every broker answered.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from consumers.models import Client
from consumers.polling.reading import GroupMembers, Member

from .client_rows import ClientKey, ClientRows
from .connections import Connections, connections_after, is_duplicated, is_reconnected


def list_members(
    rows: ClientRows,
    groups: Mapping[str, int],
    answers: Iterable[GroupMembers],
    stand_ins: Collection[str],
    now: datetime,
) -> set[int]:
    """Returns the groups in which anything of it changed. `groups`: their ids by name."""
    changed: set[int] = set()
    missing = set(rows.present)
    complete: set[int] = set()
    for answer in answers:
        group = groups[answer.group]
        if answer.complete:
            complete.add(group)
        for member in answer.members:
            missing.discard((group, member.client_id))
            if _list_member(rows, group, member, answer, stand_ins, now):
                changed.add(group)
    for key in missing:
        if key[0] in complete:
            rows.end(key)
            changed.add(key[0])
    return changed


def _list_member(
    rows: ClientRows, group: int, member: Member, answer: GroupMembers, stand_ins: Collection[str], now: datetime
) -> bool:
    key: ClientKey = (group, member.client_id)
    row = rows.present.get(key)
    connections = connections_after(row.connections if row else {}, member, answer, stand_ins)
    if row is None or is_reconnected(row.connections, connections):
        rows.begin(_interval(group, member, now))
        rows.present[key].listed_since = row.listed_since if row else now
        _connect(rows.present[key], row.connections if row else {}, connections, now)
        return True
    row.last_seen = now
    if row.connections == connections:
        return False
    _connect(row, row.connections, connections, now)
    row.address = member.address
    rows.touch(key)
    return True


def _interval(group: int, member: Member, now: datetime) -> Client:
    return Client(
        group_id=group,
        client_id=member.client_id,
        address=member.address,
        language=member.language,
        version=member.version,
        seen_since=now,
        last_seen=now,
    )


def _connect(row: Client, before: Mapping[str, list[str]], connections: Connections, now: datetime) -> None:
    row.connections = connections
    if before.keys() != connections.keys():
        row.listed_since = now
    if is_duplicated(connections):
        row.duplicated_since = row.duplicated_since or now
    elif row.duplicated_since is not None:
        # Whose start time it was, that of the process which is left or of the other, is not known.
        row.duplicated_since = row.started_at = None
