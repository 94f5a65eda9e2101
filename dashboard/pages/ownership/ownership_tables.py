"""The tables of the Ownership tab: what was compared, the queues, the members."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from consumers.groups.detail import GroupHead
from consumers.models import ConsumerGroup
from consumers.ownership.findings import OwnershipCheck
from consumers.ownership.members import member_list, members_unknown
from consumers.ownership.rows import AssignmentRow, MemberRow
from consumers.ownership.subscriptions import SubscriptionHistory, SubscriptionRow, subscription_history
from consumers.queries.windows import RangeError
from consumers.vocabulary.findings import FindingSeverity
from consumers.vocabulary.reasons import ReasonCode, reason_code
from consumers.vocabulary.states import BROADCASTING, Flag
from consumers.words.marks import clauses, listed
from consumers.words.spans import counted
from dashboard.figures.ownership_timeline import colour_number
from dashboard.pages.common.frame import Choice, Frame
from dashboard.pages.common.list_pages import paged
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import count, rate

# The lines of the queues' table: who owns each, who is to own it, and which of them want attention.

RETRY = "%RETRY%"


class AssignmentState(StrEnum):
    """The worst first. OWNED: by one, and who is to own it cannot be said."""

    SEVERAL = "several"
    NOBODY = "nobody"
    OTHER = "other"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    OWNED = "owned"
    EXPECTED = "expected"


# What proves that a queue has no owner; any other reason leaves it unknown.
NOT_OWNED: dict[str, AssignmentState] = {
    ReasonCode.NO_OWNER: AssignmentState.NOBODY,
    ReasonCode.NO_MEMBER: AssignmentState.ABSENT,
}
WORDS: dict[AssignmentState, str | Promise] = {
    AssignmentState.SEVERAL: gettext_lazy("several owners"),
    AssignmentState.NOBODY: gettext_lazy("no owner"),
    AssignmentState.OTHER: gettext_lazy("not as expected"),
    AssignmentState.ABSENT: gettext_lazy("no member"),
    AssignmentState.UNKNOWN: gettext_lazy("unknown"),
    AssignmentState.OWNED: gettext_lazy("owned, not compared"),
    AssignmentState.EXPECTED: gettext_lazy("as expected"),
}


@dataclass(frozen=True)
class QueueLine:
    """`unexpected`: why who is to own it cannot be said; `why`: what the rest of the line does not say."""

    topic: str
    broker: str
    queue_id: int
    owners: Sequence[AssignmentRow]
    expected: str | None
    unexpected: str
    verdict: AssignmentState
    why: str

    @property
    def is_retry(self) -> bool:
        return self.topic.startswith(RETRY)

    @property
    def is_odd(self) -> bool:
        return self.verdict not in (AssignmentState.OWNED, AssignmentState.EXPECTED)

    @property
    def words(self) -> str | Promise:
        return WORDS[self.verdict]


def queue_lines(rows: Iterable[AssignmentRow]) -> list[QueueLine]:
    """`rows` as the selector gives them. What wants attention first, then by topic, broker and queue."""
    lines = [
        _queue_line(list(same)) for _place, same in groupby(rows, key=lambda row: (row.topic, row.broker, row.queue_id))
    ]
    order = list(AssignmentState)
    return sorted(lines, key=lambda line: (order.index(line.verdict) if line.is_odd else len(order), line.is_retry))


def counts(lines: Iterable[QueueLine]) -> list[tuple[AssignmentState, str | Promise, int]]:
    """How many queues there are of each verdict, the good ones first."""
    found = Counter(line.verdict for line in lines)
    return [(state, WORDS[state], found[state]) for state in reversed(AssignmentState) if found[state]]


def _queue_line(rows: Sequence[AssignmentRow]) -> QueueLine:
    first = rows[0]
    owners = [row for row in rows if row.owner is not None]
    reason = "" if owners else first.unknown.get("owner", "")
    state = _verdict(owners, first.expected_owner, reason)
    unexpected = first.unknown.get("expected_owner", "")
    why = reason if state in (AssignmentState.UNKNOWN, AssignmentState.ABSENT) else unexpected
    return QueueLine(*(first.topic, first.broker, first.queue_id), owners, first.expected_owner, unexpected, state, why)


def _verdict(owners: Sequence[AssignmentRow], expected: str | None, reason: str) -> AssignmentState:
    if len(owners) > 1:
        return AssignmentState.SEVERAL
    if not owners:
        code = reason_code(reason)
        return AssignmentState.UNKNOWN if code is None else NOT_OWNED.get(code, AssignmentState.UNKNOWN)
    if expected is None:
        return AssignmentState.OWNED
    return AssignmentState.EXPECTED if expected == owners[0].owner else AssignmentState.OTHER


# The lines of the members' table: what each owns beside what falls to it, and what is odd about it.


@dataclass(frozen=True)
class MemberLine:
    """`colour`: the number of its colour in the picture, null where it is not in it.

    `addresses`: broker and address, the broker empty where all brokers list one host. `expected`: how many queues fall
    to it, null where that is not known. `most`: of which queue it consumes most; `never`: which were never written.
    """

    row: MemberRow
    colour: int | None
    addresses: list[tuple[str, str]]
    expected: int | None
    is_busiest: bool
    alarms: list[str]
    notes: list[str]
    most: str
    never: str


def member_lines(
    rows: Sequence[MemberRow], owners: Sequence[str], expected: Mapping[str, int] | None
) -> list[MemberLine]:
    """Returns anomalies first, then the busiest members. `expected` by client id; None where it is not known for the
    group."""
    colours = {owner: colour_number(place) for place, owner in enumerate(owners)}
    busiest = max((row.messages_per_second or 0 for row in rows), default=0)
    lines = [
        MemberLine(
            row=row,
            colour=colours.get(row.client_id),
            addresses=addresses(row),
            expected=None if expected is None else expected.get(row.client_id, 0),
            is_busiest=len(rows) > 1 and bool(busiest) and row.messages_per_second == busiest,
            alarms=_alarms(row),
            notes=_notes(row, len(rows), expected),
            most=_most(row),
            never=_never(row),
        )
        for row in rows
    ]
    return sorted(lines, key=lambda line: (not (line.alarms or line.notes), not line.is_busiest))


def addresses(row: MemberRow) -> list[tuple[str, str]]:
    """One where all brokers list connections from one host: each broker sees another port of it."""
    hosts = {address.rpartition(":")[0] for listed in row.connections.values() for address in listed}
    if len(hosts) < 2 and all(len(listed) < 2 for listed in row.connections.values()):
        return [("", row.address)]
    return [(broker, address) for broker, listed in sorted(row.connections.items()) for address in sorted(listed)]


def _alarms(row: MemberRow) -> list[str]:
    if row.duplicated_since is None:
        return []
    return [_("two processes share this client ID: both take the same queues, and other queues stay unowned")]


def _notes(row: MemberRow, members: int, expected: Mapping[str, int] | None) -> list[str]:
    if row.queues != 0:
        return []
    if expected is None:
        return [_("owns no queue")]
    own = expected.get(row.client_id, 0)
    if own:
        return [
            ngettext("owns none of the %(n)s queue expected", "owns none of the %(n)s queues expected", own)
            % {"n": own}
        ]
    total = sum(expected.values())
    if total < members:
        return [
            _("no queue expected: %(queues)s for %(members)s")
            % {"members": counted("n_members", members), "queues": counted("n_queues", total)}
        ]
    return [_("no queue is expected to be assigned to it")]


def _most(row: MemberRow) -> str:
    busiest = row.busiest_queue
    if busiest is None or row.queues == 1:
        return ""
    words = {
        "queue": f"{busiest.topic} / {busiest.broker} / {busiest.queue_id}",
        "rate": rate(busiest.messages_per_second),
    }
    return _("mostly from %(queue)s: %(rate)s") % words


def _never(row: MemberRow) -> str:
    places = listed(f"{place.topic} / {place.broker} / {place.queue_id}" for place in row.never_written or ())
    return _("nothing was ever written to %s") % places if places else ""


# Who subscribes to what, in few lines: members that say the same stand together.

NAMED = 4


@dataclass(frozen=True)
class SubscriptionLine:
    """`since` and `last_seen` span the intervals of its clients; `gone_by` is the last end. Null: they say so still."""

    topic: str
    expression: str
    expression_type: str | None
    clients: Sequence[str]
    since: datetime
    last_seen: datetime
    gone_by: datetime | None

    @property
    def named(self) -> Sequence[str]:
        return self.clients[:NAMED]

    @property
    def more(self) -> int:
        return max(0, len(self.clients) - NAMED)


def subscription_lines(rows: Sequence[SubscriptionRow]) -> list[SubscriptionLine]:
    """Returns current subscriptions first, by topic and number of members, then past ones, the newest first. Members
    that restart report the same under new IDs: their earlier reports are one line."""
    current: dict[tuple[str, str, str | None], list[SubscriptionRow]] = {}
    ended: dict[tuple[str, str, str | None], list[SubscriptionRow]] = {}
    for row in rows:
        chosen = current if row.gone_by is None else ended
        chosen.setdefault((row.topic, row.expression, row.expression_type), []).append(row)
    now, past = ([_line(same) for same in lines.values()] for lines in (current, ended))
    past.sort(key=lambda line: line.last_seen, reverse=True)
    return [*sorted(now, key=lambda line: (line.topic, -len(line.clients), line.expression)), *past]


def _line(rows: Sequence[SubscriptionRow]) -> SubscriptionLine:
    first = rows[0]
    return SubscriptionLine(
        *(first.topic, first.expression, first.expression_type),
        clients=sorted({row.client_id for row in rows}),
        since=min(row.seen_since for row in rows),
        last_seen=max(row.last_seen for row in rows),
        gone_by=max((row.gone_by for row in rows if row.gone_by is not None), default=None),
    )


ROWS, FEW, MEMBERS, FINDINGS, SUBSCRIPTIONS = 100, 20, 30, 8, 30


def compared(frame: Frame, check: OwnershipCheck) -> dict[str, Any]:
    return {
        "check": check,
        "findings": check.findings if "all" in frame.request.GET else check.findings[:FINDINGS],
        "every_finding": frame.here(all="1"),
        "is_sound": check.why_not_compared is None
        and check.as_expected == check.compared_queues
        and all(found.severity is FindingSeverity.INFO for found in check.findings),
        "checked_against": _checked(check),
    }


def _checked(check: OwnershipCheck) -> str:
    """`8 of 8 queues with their expected owner, 3 members, AllocateMessageQueueAveragely`."""
    if not check.members:
        return _("Owners not compared: %s") % check.why_not_compared
    members = ngettext("%(n)s member", "%(n)s members", check.members) % {"n": count(check.members)}
    who = clauses([members, *check.strategies])
    if check.why_not_compared is not None:
        return _("%(who)s; owners not compared: %(why)s") % {"who": who, "why": check.why_not_compared}
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
        return _("Broadcasting group: every member owns every queue.")
    if Flag.POP in head.flags:
        return _("POP group: members own no queues. Any member pops messages from any queue it was given.")
    return ""


def _choices(frame: Frame, odd: int, every: int, shows_all: bool) -> list[Choice]:
    return [
        Choice(_("unexpected %s") % count(odd), frame.here(all=None), not shows_all),
        Choice(_("all %s") % count(every), frame.here(all="1"), shows_all),
    ]


def _page(frame: Frame, lines: Sequence[QueueLine]) -> dict[str, Any]:
    shown, paging = paged(frame, lines, ROWS)
    return {"queue_lines": shown, "listed": len(lines), **paging}


def member_table(
    frame: Frame, group: ConsumerGroup, rows: Sequence[AssignmentRow], owners: Sequence[str]
) -> dict[str, Any]:
    """`rows`: of all queues; `owners`: those that the picture names."""
    expected, reasons = _falling(rows)
    lines = member_lines(member_list(group, now=frame.now), owners, expected)
    doubt = members_unknown(group, now=frame.now)
    return {
        "members": lines if "all" in frame.request.GET else lines[:MEMBERS],
        "member_count": len(lines),
        "every_member": frame.here(all="1"),
        "not_expected": reasons,
        "members_unknown": doubt or "",
        "no_members": _("Members unknown: %s") % doubt
        if doubt
        else _("The group has no members: its queues are unowned."),
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
    since, until = frame.range.since, frame.range.until
    try:
        found = subscription_history(group, since=since, until=until)
    except RangeError as error:
        why = dict.fromkeys(("subscriptions", "differences"), str(error))
        found = SubscriptionHistory(since, until, [], [], why)
    differences = sorted(found.differences, key=lambda one: one.since, reverse=True)
    lines = subscription_lines(found.subscriptions)
    return {
        "subscriptions": found,
        "differences": differences[:SUBSCRIPTIONS],
        "more_differences": max(0, len(differences) - SUBSCRIPTIONS),
        "subscription_lines": lines[:SUBSCRIPTIONS],
        "more_subscriptions": max(0, len(lines) - SUBSCRIPTIONS),
    }
