"""Groups whose lag is intended: paused groups, and groups that are offline by habit."""

from django.db.models import Q
from django.utils.translation import gettext

from consumers.alerts.measures.scan import GroupFacts, GroupScan, parsed
from consumers.models import Client, ConsumerGroup
from consumers.polling.flags import has_unlisted_members, offline_share
from consumers.vocabulary.groups import BROADCASTING, POPPING, PULLING
from consumers.vocabulary.rules import RuleCode


def spared_waiting(scan: GroupScan, place: int) -> str | None:
    """Why the group's lag is suppressed; None where it is not."""
    row = scan.rows[place]
    if row.consume_enable is False:
        return gettext("paused by configuration: consumeEnable is false")
    return spared_by_habit(scan, place)


def spared_by_habit(scan: GroupScan, place: int) -> str | None:
    """Suppressed only within the longest usual wait, and only while no message expires within a day: as it was
    evaluated.
    """
    row = scan.rows[place]
    if row.judged_rule == RuleCode.OFFLINE_BY_HABIT and (
        row.id in scan.overlay.live.excused or not scan.unjudged_reason(place)
    ):
        return gettext("offline by habit, and waiting for no longer than usual")
    return None


def spared_without_members(scan: GroupScan, place: int) -> str | None:
    """Why brokers are not expected to list a member of the group."""
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
    """Why members of the group do not report which queues and messages they hold; None where they do."""
    if row.consume_type == POPPING:
        return gettext("its members pop messages: no queue has an owner")
    if row.consume_type == PULLING:
        return gettext("its members pull messages: not all such clients say which queues they hold")
    return None


def why_outside(row: GroupFacts) -> str | None:
    """Why the offsets that brokers store for the group are not its progress; None where they are."""
    if row.outside_store is None:
        return None
    return gettext("%s keeps its progress, not the brokers") % row.outside_store


def _watched(row: GroupFacts) -> ConsumerGroup:
    """The group with all columns that its flags depend on; not for saving."""
    return ConsumerGroup(
        pk=row.id,
        name=row.name,
        first_seen_at=row.first_seen_at,
        offline_since=row.offline_since,
        moved_at=row.moved_at,
        presence=parsed(row.presence),
    )


# Members that have not reported what they hold.


def silent_groups() -> dict[int, str]:
    """Groups with a member whose newest answer, if any, reported nothing, and that member. One query."""
    rows = Client.objects.filter(Q(running_info_at=None) | Q(running_info_error__isnull=False), gone_by=None)
    return dict(rows.values_list("group_id", "client_id"))
