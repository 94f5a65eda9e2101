"""Groups that wait because somebody wants them to: paused ones, and those that are offline by habit."""

from django.db.models import Q
from django.utils.translation import gettext

from consumers.alerts.measures.scan import GroupFacts, GroupScan, parsed
from consumers.models import Client, ConsumerGroup
from consumers.polling.flags import has_unlisted_members, offline_share
from consumers.vocabulary.groups import BROADCASTING, POPPING, PULLING
from consumers.vocabulary.rules import RuleCode


def spared_waiting(scan: GroupScan, place: int) -> str | None:
    """Why its lag is nothing to be alarmed by; None where it may be."""
    row = scan.rows[place]
    if row.consume_enable is False:
        return gettext("paused by configuration: consumeEnable is false")
    return spared_by_habit(scan, place)


def spared_by_habit(scan: GroupScan, place: int) -> str | None:
    """Not for longer than it ever waited, nor when its messages expire within a day: so it was evaluated."""
    row = scan.rows[place]
    if row.judged_rule == RuleCode.OFFLINE_BY_HABIT and (
        row.id in scan.overlay.live.excused or not scan.unjudged_reason(place)
    ):
        return gettext("offline by habit, and waiting for no longer than usual")
    return None


def spared_without_members(scan: GroupScan, place: int) -> str | None:
    """Why nobody expects brokers to list a member of it."""
    row, limits = scan.rows[place], scan.overlay.limits.kinds
    if row.consume_enable is False:
        return gettext("paused by configuration: consumeEnable is false")
    if row.consume_type == PULLING:
        return gettext("its members pull messages: they are listed only while they do")
    if row.message_model == BROADCASTING:
        return gettext("broadcasting: each member consumes for itself")
    group = _watched(row)
    if has_unlisted_members(group, limits):
        return gettext("consumes, but no broker lists a member: possibly members of a proxy")
    share = offline_share(group, scan.now, limits)
    if share is not None and share > limits.habit_offline_share:
        words = {"share": f"{share:.0%}", "days": f"{limits.habit_days:g}"}
        return gettext("offline by habit: without a member for %(share)s of the last %(days)s days") % words
    return None


def why_nobody_holds(row: GroupFacts) -> str | None:
    """Why members of the group do not tell which queues and messages they hold; None where they do."""
    if row.consume_type == POPPING:
        return gettext("its members pop messages: no queue has an owner")
    if row.consume_type == PULLING:
        return gettext("its members pull messages: not all such clients say which queues they hold")
    return None


def why_outside(row: GroupFacts) -> str | None:
    """Why what brokers hold as its offsets is not its progress; None where it is."""
    if row.outside_store is None:
        return None
    return gettext("%s keeps its progress, not the brokers") % row.outside_store


def _watched(row: GroupFacts) -> ConsumerGroup:
    """With all that its flags are told by; not for saving."""
    return ConsumerGroup(
        pk=row.id,
        name=row.name,
        first_seen_at=row.first_seen_at,
        offline_since=row.offline_since,
        moved_at=row.moved_at,
        presence=parsed(row.presence),
    )


# Members that have not said what they hold.


def silent_groups() -> dict[int, str]:
    """Groups with a member whose newest answer, if any, told nothing, and who that is. One query."""
    rows = Client.objects.filter(Q(running_info_at=None) | Q(running_info_error__isnull=False), gone_by=None)
    return dict(rows.values_list("group_id", "client_id"))
