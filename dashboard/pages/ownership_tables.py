"""The tables of the Ownership tab: what was compared, the queues, the members."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consumers.models import ConsumerGroup
from consumers.selectors.groups.head import GroupHead
from consumers.selectors.history.window_range import RangeError
from consumers.selectors.ownership.finding import Level, OwnershipCheck
from consumers.selectors.ownership.members import member_list, members_unknown
from consumers.selectors.ownership.rows import AssignmentRow
from consumers.selectors.ownership.subscription_rows import SubscriptionHistory
from consumers.selectors.ownership.subscriptions import subscription_history
from consumers.vocabulary.groups import BROADCASTING, Flag
from dashboard.wording.numbers import count

from .frame import Choice, Frame
from .list_pages import paged
from .member_lines import member_lines
from .ownership_lines import QueueLine, counts, queue_lines
from .problems import UnknownFilter
from .subscription_lines import subscription_lines

ROWS, FEW, MEMBERS, FINDINGS, SUBSCRIPTIONS = 100, 20, 30, 8, 30


def compared(frame: Frame, check: OwnershipCheck) -> dict[str, Any]:
    return {
        "check": check,
        "findings": check.findings if "all" in frame.request.GET else check.findings[:FINDINGS],
        "every_finding": frame.here(all="1"),
        "is_sound": check.why_not_compared is None
        and check.as_expected == check.compared_queues
        and all(found.level is Level.NOTE for found in check.findings),
        "checked_against": _checked(check),
    }


def _checked(check: OwnershipCheck) -> str:
    """`8 of 8 queues with their expected owner, 3 members, AllocateMessageQueueAveragely`."""
    if not check.members:
        return _("Owners are not compared: %s") % check.why_not_compared
    members = ngettext("%(n)s member", "%(n)s members", check.members) % {"n": count(check.members)}
    who = ", ".join([members, *check.strategies])
    if check.why_not_compared is not None:
        return _("%(who)s; owners are not compared: %(why)s") % {"who": who, "why": check.why_not_compared}
    words = {"who": who, "n": count(check.as_expected), "all": count(check.compared_queues)}
    return _("%(n)s of %(all)s queues with their expected owner, %(who)s") % words


def queue_table(frame: Frame, head: GroupHead, rows: Sequence[AssignmentRow]) -> dict[str, Any]:
    read = frame.request.GET.get
    topic, shows_all = read("topic", ""), read("all", "")
    if shows_all not in ("", "1"):
        raise UnknownFilter("all", shows_all, ["1"])
    topics = list(dict.fromkeys(row.topic for row in rows))
    if topic and topic not in topics:
        raise UnknownFilter("topic", topic, topics)
    lines = queue_lines(row for row in rows if topic in ("", row.topic))
    no_queues = _shared_by_all(head) or ("" if lines else _("No queue of this group is known yet."))
    odd = [line for line in lines if line.is_odd]
    is_short = len(lines) <= FEW
    return {
        "no_queues": no_queues,
        "queue_count": len(lines),
        "verdicts": counts(lines),
        "queue_choices": [] if is_short else _choices(frame, len(odd), len(lines), bool(shows_all)),
        "topic_choices": [Choice(_("all topics"), frame.here(topic=None), not topic)]
        + [Choice(name, frame.here(topic=name), name == topic) for name in topics],
        **_page(frame, lines if shows_all or is_short else odd),
    }


def _shared_by_all(head: GroupHead) -> str:
    if head.message_model == BROADCASTING:
        return _("This group broadcasts: every member owns every queue, so none is without an owner or has too many.")
    if Flag.POP in head.flags:
        return _("Its members own nothing: messages are popped, by any member from any queue that it was given.")
    return ""


def _choices(frame: Frame, odd: int, every: int, shows_all: bool) -> list[Choice]:
    return [
        Choice(_("that differ %s") % count(odd), frame.here(all=None), not shows_all),
        Choice(_("all %s") % count(every), frame.here(all="1"), shows_all),
    ]


def _page(frame: Frame, lines: Sequence[QueueLine]) -> dict[str, Any]:
    shown, paging = paged(frame, lines, ROWS)
    return {"queue_lines": shown, "listed": len(lines), **paging}


def member_table(
    frame: Frame, group: ConsumerGroup, rows: Sequence[AssignmentRow], owners: Sequence[str]
) -> dict[str, Any]:
    """`rows`: of all queues; `owners`: those that the picture names."""
    expected, unsaid = _falling(rows)
    lines = member_lines(member_list(group, now=frame.now), owners, expected)
    doubt = members_unknown(group, now=frame.now)
    return {
        "members": lines if "all" in frame.request.GET else lines[:MEMBERS],
        "member_count": len(lines),
        "every_member": frame.here(all="1"),
        "not_expected": unsaid,
        "members_unknown": doubt or "",
        "no_members": _("Who is in the group is not known: %s") % doubt
        if doubt
        else _("The group has no member: nobody owns its queues."),
    }


def _falling(rows: Sequence[AssignmentRow]) -> tuple[Counter[str] | None, str]:
    """How many queues fall to whom, or why that is not known of one of them."""
    if not rows:
        return None, _("no queue of the group is known yet")
    found: Counter[str] = Counter()
    for _queue, same in groupby(rows, key=lambda row: (row.topic, row.broker, row.queue_id)):
        row = next(same)
        if row.expected_owner is None:
            return None, row.unknown["expected_owner"]
        found.update(row.expected_owner.split(", "))
    return found, ""


def subscription_table(frame: Frame, group: ConsumerGroup) -> dict[str, Any]:
    since = frame.range.since
    try:
        found = subscription_history(group, since=since, until=frame.now)
    except RangeError as error:
        why = dict.fromkeys(("subscriptions", "differences"), str(error))
        found = SubscriptionHistory(since, frame.now, [], [], why)
    differences = sorted(found.differences, key=lambda one: one.since, reverse=True)
    lines = subscription_lines(found.subscriptions)
    return {
        "subscriptions": found,
        "differences": differences[:SUBSCRIPTIONS],
        "more_differences": max(0, len(differences) - SUBSCRIPTIONS),
        "subscription_lines": lines[:SUBSCRIPTIONS],
        "more_subscriptions": max(0, len(lines) - SUBSCRIPTIONS),
    }
