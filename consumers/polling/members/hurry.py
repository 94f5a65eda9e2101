"""Which groups cannot wait for their turn: their members are sharing queues out anew, or may be."""

from datetime import datetime

from consumers.polling.reading import GroupMembers, Member

from .known_groups import KnownGroup, KnownMember


def has_changed(answer: GroupMembers, known: KnownGroup) -> bool:
    """Members, their connections or the newest change that a broker told of are not what the rows say.

    Where a broker did not answer, a member that is missing is not known to have left. Only a newer time is a change:
    brokers tell that of the member that registered last, so it comes and goes where members subscribe differently. A
    client whose clock is ahead hides later changes of others; their turn in the rotation shows them.
    """
    present = {member.client_id: member for member in answer.members}
    if present.keys() - known.members.keys() or (answer.complete and known.members.keys() - present.keys()):
        return True
    if answer.sub_version is not None and (known.sub_version is None or answer.sub_version > known.sub_version):
        return True
    return any(_is_elsewhere(answer, member, known.members[client_id]) for client_id, member in present.items())


def is_restless(known: KnownGroup, patience_seconds: float, now: datetime) -> bool:
    """It changed a moment ago: what follows of it must not be missed."""
    changed_at = known.members_changed_at
    return changed_at is not None and (now - changed_at).total_seconds() < patience_seconds


def _is_elsewhere(answer: GroupMembers, member: Member, known: KnownMember) -> bool:
    return any(
        sorted(member.connections.get(broker, ())) != sorted(known.connections.get(broker, ()))
        for broker in answer.answered_by
    )
