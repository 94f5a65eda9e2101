"""Resends as pages and REST show them, in a fixed number of queries; and the expected effect of a planned one: which
groups receive the messages, and warnings before its start.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext, gettext as _, gettext_lazy

from consumers.jobs.acts import ActRefused, note
from consumers.jobs.hold import why_read_only
from consumers.models import Cluster, ConsumerGroup, Destination, Resend, ResendItem, ResendOutcome, ResendStatus
from consumers.queries.declared import answer, answered, public
from consumers.retries.checks.observed import BrokerConditions, RetryConditions, group_facts
from consumers.vocabulary.states import READ, WRITE
from consumers.words.marks import listed
from consumers.words.reasons import stored_words

# Reasons against resending dead-letter messages to a group, and warnings: rules over facts.


@dataclass(frozen=True)
class Outlook:
    """`refusals`: the resend must not be planned. `warnings`: it may be planned."""

    refusals: list[str]
    warnings: list[str]


def outlook(conditions: RetryConditions, *, to_group: bool) -> Outlook:
    refusals = [*_kind(conditions), *_retry_topic(conditions)] if to_group else []
    warnings = [*_members(conditions, to_group=to_group), *_standing(conditions)]
    if to_group and not refusals:
        warnings += _not_known(conditions)
    return Outlook(refusals, warnings)


def _kind(conditions: RetryConditions) -> Iterable[str]:
    if conditions.is_broadcasting:
        yield _("Its members each consume every message (broadcasting): such a group has no retry topic that is read.")
    if conditions.is_popping:
        yield _("The group pops: brokers store its retries in other topics, and %RETRY% with its name is not read.")
    if any(client.orderly for client in conditions.clients):
        yield _(
            "The members are orderly and hold queue locks, so the broker would dead-letter messages of "
            "the retry topic again. Resend to the original topic."
        )


def _retry_topic(conditions: RetryConditions) -> Iterable[str]:
    """A retry topic on one broker suffices, wherever the dead-letter messages are."""
    reasons = [_why_not(broker) for broker in conditions.brokers]
    if reasons and all(why for why in reasons):
        words = {"topic": conditions.retry_topic, "why": "; ".join(why for why in reasons if why)}
        yield _("No broker takes messages for %(topic)s: %(why)s.") % words


def _why_not(broker: BrokerConditions) -> str | None:
    """Null where the group consumes the retry topic, or where that is unknown."""
    words = {"broker": broker.name}
    if broker.permission.has(WRITE) is False or broker.routed.has(WRITE) is False:
        return _("%(broker)s does not accept writes") % words
    group = broker.group
    if group is None:
        return None
    if not group.configured:
        return _("%(broker)s does not know the group") % words
    if group.retry_queue_nums is not None and group.retry_queue_nums <= 0:
        return _("retryQueueNums is %(n)s on %(broker)s, where a message that fails again would be dropped") % {
            **words,
            "n": group.retry_queue_nums,
        }
    if group.retry_permission is None:
        return _("%(broker)s has no such topic") % words
    if not group.retry_permission & READ or not group.retry_permission & WRITE:
        return _("the topic's permission on %(broker)s is %(n)s") % {**words, "n": group.retry_permission}
    return None


def _members(conditions: RetryConditions, *, to_group: bool) -> Iterable[str]:
    if conditions.online is False:
        yield _("The group has no member: the messages count as lag until a member joins.")
    elif conditions.online is None:
        yield _("The members of the group are unknown: %s.") % conditions.membership_unknown
    elif to_group and any(client.orderly is None for client in conditions.clients):
        yield _(
            "Not every member has reported whether it is orderly. If one is, the first message is "
            "dead-lettered again, and the others are not sent."
        )


def _standing(conditions: RetryConditions) -> Iterable[str]:
    closed = [broker.name for broker in conditions.brokers if broker.group and broker.group.consume_enable is False]
    if closed:
        yield _("Consumption is not enabled on %s: messages there count as lag.") % listed(closed)


def _not_known(conditions: RetryConditions) -> Iterable[str]:
    unclear = [broker.name for broker in conditions.brokers if broker.unread is not None]
    if not conditions.brokers:
        yield _("No broker of the cluster has been read yet, so it is unknown whether the retry topic exists.")
    elif unclear:
        yield _("Unknown whether the retry topic exists on %s.") % listed(unclear)


# Groups that receive a topic's messages: those that were seen to consume it, or that subscribe to it.


def receivers(cluster: Cluster, topics: Collection[str]) -> list[str]:
    """Two queries. Groups that no reading has seen are not among them."""
    groups = ConsumerGroup.objects.filter(cluster=cluster).order_by()
    read = groups.filter(snapshots__queue__topic__name__in=topics, snapshots__queue__topic__cluster=cluster)
    subscribed = groups.filter(client_subscriptions__topic__in=topics, client_subscriptions__gone_by=None)
    return sorted({*read.values_list("name", flat=True), *subscribed.values_list("name", flat=True)})


@dataclass(frozen=True)
class Preview:
    """`receivers`: groups, as far as readings have seen them. `refusals`: why a plan would now be refused."""

    receivers: list[str]
    warnings: list[str]
    refusals: list[str]


def preview(group: ConsumerGroup, destination: Destination, topics: set[str], now: datetime) -> Preview:
    """`topics`: the original topics of the messages."""
    to_group = destination == Destination.GROUP
    forecast = outlook(group_facts(group.cluster.name, group.name, now), to_group=to_group)
    who = [group.name] if to_group else receivers(group.cluster, topics)
    locked = why_read_only(group.cluster.name)
    return Preview(who, forecast.warnings, [*([locked] if locked else []), *forecast.refusals])


def preview_of(resend_id: UUID, now: datetime) -> Preview:
    resend = Resend.objects.select_related("group__cluster").get(pk=resend_id)
    items = ResendItem.objects.filter(resend=resend_id, outcome=ResendOutcome.PLANNED).order_by()
    topics = {topic for topic in items.values_list("target_topic", flat=True).distinct() if topic}
    return preview(resend.group, Destination(resend.destination), topics, now)


# Starts and cancels planned resends. A worker does the work: it looks for rows that say RUNNING.

# Each running resend occupies a process of the general worker, which has other work too.
MOST_AT_ONCE = 2


class NotStarted(ActRefused):
    """A resend."""


class NotCancelled(ActRefused):
    """A resend."""


def start(resend: Resend, by: Any, confirm: str, now: datetime) -> None:
    """`confirm`: the group's name, as the user typed it. Raises NotStarted. One resend of a group runs at a time."""
    if confirm != resend.group.name:
        raise NotStarted(_("Type the group's name, %s, to confirm.") % resend.group.name)
    if against := preview_of(resend.pk, now).refusals:
        raise NotStarted(" ".join(against))
    with transaction.atomic():
        # Locking the group's row serialises two starts.
        ConsumerGroup.objects.select_for_update().get(pk=resend.group_id)
        resend.refresh_from_db()
        if resend.status == ResendStatus.PLANNED and resend.expires_at <= now:
            raise NotStarted(
                _(
                    "The plan has expired. Plan the resend again: dead-letter messages may have been added or "
                    "deleted since."
                )
            )
        if resend.status != ResendStatus.PLANNED:
            raise NotStarted(_("It was started, cancelled or has expired already: it is %s.") % resend.status)
        if Resend.objects.filter(group=resend.group_id, status=ResendStatus.RUNNING).exists():
            raise NotStarted(_("Another resend of this group is running. Wait for its end, or cancel it."))
        if Resend.objects.filter(status=ResendStatus.RUNNING).count() >= MOST_AT_ONCE:
            raise NotStarted(_("%s resends are running, which is the maximum. Wait for the end of one.") % MOST_AT_ONCE)
        if not resend.items.filter(outcome=ResendOutcome.PLANNED).exists():
            raise NotStarted(_("None of its messages would be sent: see why each is left out."))
        resend.status, resend.started_at = ResendStatus.RUNNING, now
        resend.started_by, resend.started_by_name = by, by.get_username()
        resend.save(update_fields=["status", "started_at", "started_by", "started_by_name"])
        note(resend, resend.title, by, "Started the resend.", now)


def cancel(resend: Resend, by: Any, now: datetime) -> None:
    """A planned resend is cancelled at once; a running one after its current batch. Raises NotCancelled."""
    with transaction.atomic():
        if _close(resend, ResendStatus.CANCELLED, now):
            note(resend, resend.title, by, "Cancelled the plan.", now)
        elif Resend.objects.filter(pk=resend.pk, status=ResendStatus.RUNNING).update(cancel_wanted=True):
            note(resend, resend.title, by, "Requested to cancel the resend.", now)
        else:
            raise NotCancelled(_("It has ended already."))
    resend.refresh_from_db()


def expire(now: datetime) -> int:
    """Marks plans past their time as expired. Returns how many there were."""
    void = Resend.objects.filter(status=ResendStatus.PLANNED, expires_at__lte=now)
    with transaction.atomic():
        return sum(_close(resend, ResendStatus.EXPIRED, now) for resend in void)


def _close(resend: Resend, status: ResendStatus, now: datetime) -> bool:
    """False where the resend is no longer planned."""
    planned = Resend.objects.filter(pk=resend.pk, status=ResendStatus.PLANNED)
    if not planned.update(status=status, finished_at=now):
        return False
    left = ResendItem.objects.filter(resend=resend, outcome=ResendOutcome.PLANNED)
    left.update(outcome=ResendOutcome.CANCELLED, at=now)
    return True


@answer(
    "A resend of dead-letter messages. A value that is unknown or does not exist yet is null: `unknown` has the reason."
)
@dataclass(frozen=True)
class ResendRow:
    """`expected_seconds`: of what is planned or left. A plan whose time is over is expired, whether or not a worker has
    noted it.
    """

    id: str = field(metadata=public(of=UUID))
    cluster: str
    group: str
    status: str = field(metadata=public(of=ResendStatus))
    destination: str = field(
        metadata=public(
            "group: the group's retry topic, no other group sees it; topic: every group of the topic gets it",
            of=Destination,
        )
    )
    by: str = field(metadata=public("Who planned it"))
    reason: str
    again: bool = field(metadata=public("Messages that were re-sent before are sent once more"))
    rate_per_second: float
    selection: dict[str, Any] = field(
        metadata=public("What was chosen: {messages: [[broker, queue_id, offset]]} or {filter}")
    )
    cancel_wanted: bool
    messages: int
    outcomes: dict[str, int] = field(metadata=public("{outcome: messages}, without those that no message has"))
    expected_seconds: float | None = field(metadata=public("Until its end, at its rate"))
    created_at: datetime
    expires_at: datetime = field(metadata=public("A plan that is not started by then is void"))
    started_at: datetime | None
    working_at: datetime | None = field(metadata=public("When its worker was last seen to work on it"))
    finished_at: datetime | None
    detail: str | None = field(metadata=public("Why it ended before its end"))
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def is_planned(self) -> bool:
        return self.status == ResendStatus.PLANNED

    @property
    def is_running(self) -> bool:
        return self.status == ResendStatus.RUNNING

    @property
    def has_ended(self) -> bool:
        return not self.is_planned and not self.is_running


@answer("What became of one message.")
@dataclass(frozen=True)
class ResendMessageRow:
    broker: str
    queue_id: int
    offset: int = field(metadata=public("Its place in the dead-letter topic, where it remains"))
    message_id: str | None
    outcome: str = field(metadata=public("unknown: it may have been sent, and is not sent again", of=ResendOutcome))
    at: datetime | None
    target_topic: str | None
    target_broker: str | None
    target_queue_id: int | None
    target_offset: int | None
    detail: str | None = field(metadata=public("Why it was not sent, or why that is unknown"))
    unknown: dict[str, str] = field(default_factory=dict)


LEFT = (ResendOutcome.PLANNED, ResendOutcome.SENDING)

NOTHING_LEFT = gettext_lazy("finished")

WHY = {
    "started_at": gettext_lazy("not started"),
    "working_at": gettext_lazy("no worker has started the job"),
    "finished_at": gettext_lazy("not finished"),
    "detail": gettext_lazy("the status has no further detail"),
    "expected_seconds": NOTHING_LEFT,
}

NOT_SENT = {
    ResendOutcome.SENDING: gettext_lazy("being sent"),
    ResendOutcome.UNKNOWN: gettext_lazy("unknown whether it was sent"),
}

# Failed messages first: successful ones rarely need a look.
TROUBLE_FIRST = (
    ResendOutcome.UNKNOWN,
    ResendOutcome.FAILED,
    ResendOutcome.SENDING,
    ResendOutcome.SKIPPED,
    ResendOutcome.CANCELLED,
    ResendOutcome.PLANNED,
    ResendOutcome.SENT,
)


def find_resend(resend_id: UUID, now: datetime) -> ResendRow | None:
    resends = list(Resend.objects.select_related("group__cluster").filter(pk=resend_id))
    return next(iter(_rows(resends, now)), None)


def resend_list(
    group: ConsumerGroup, now: datetime, *, status: str | None = None, page: int, page_size: int
) -> tuple[list[ResendRow], int]:
    """Resends, newest first, and how many there are."""
    found = Resend.objects.select_related("group__cluster").filter(group=group).order_by("-created_at", "pk")
    if status is not None:
        found = found.filter(_is(status, now))
    start = (page - 1) * page_size
    return _rows(list(found[start : start + page_size]), now), found.count()


def resend_messages(
    resend_id: UUID, *, outcome: ResendOutcome | None, page: int, page_size: int
) -> tuple[list[ResendMessageRow], int]:
    """Messages in the order in which they are sent, and how many there are."""
    found = ResendItem.objects.filter(resend=resend_id).order_by("pk")
    if outcome is not None:
        found = found.filter(outcome=outcome)
    start = (page - 1) * page_size
    return [_message(item) for item in found[start : start + page_size]], found.count()


def _rows(resends: Sequence[Resend], now: datetime) -> list[ResendRow]:
    counts: dict[UUID, dict[str, int]] = defaultdict(dict)
    items = ResendItem.objects.filter(resend__in=[resend.pk for resend in resends]).order_by()
    for resend_id, outcome, messages in items.values_list("resend", "outcome").annotate(Count("pk")):
        counts[resend_id][outcome] = messages
    return [_row(resend, counts[resend.pk], now) for resend in resends]


def _is(status: str, now: datetime) -> Q:
    """A resend past its time counts as expired, whether or not a worker has recorded that."""
    void = Q(status=ResendStatus.PLANNED, expires_at__lte=now)
    if status == ResendStatus.EXPIRED:
        return Q(status=status) | void
    return Q(status=status) & ~void


def _row(resend: Resend, counts: dict[str, int], now: datetime) -> ResendRow:
    is_void = resend.status == ResendStatus.PLANNED and resend.expires_at <= now
    status = ResendStatus.EXPIRED if is_void else resend.status
    left = sum(counts.get(outcome, 0) for outcome in LEFT)
    is_open = status in (ResendStatus.PLANNED, ResendStatus.RUNNING)
    return answered(
        ResendRow,
        resend,
        WHY,
        id=str(resend.pk),
        cluster=resend.group.cluster.name,
        group=resend.group.name,
        status=str(status),
        by=resend.by_name,
        messages=sum(counts.values()),
        outcomes={outcome: counts[outcome] for outcome in TROUBLE_FIRST if outcome in counts},
        finished_at=resend.expires_at if is_void else resend.finished_at,
        detail=stored_words(resend.error),
        expected_seconds=left / resend.rate_per_second if is_open and left else None,
    )


def _message(item: ResendItem) -> ResendMessageRow:
    aimed = gettext("no target queue was chosen")
    why = {
        "message_id": gettext("the producer gave the message no ID"),
        "at": gettext("excluded by the plan")
        if item.outcome == ResendOutcome.SKIPPED
        else gettext("not processed yet"),
        "target_topic": gettext("the message does not name its original topic"),
        "target_broker": aimed,
        "target_queue_id": aimed,
        "target_offset": NOT_SENT.get(ResendOutcome(item.outcome), gettext("not sent")),
        "detail": gettext("the outcome has no further detail"),
    }
    return answered(ResendMessageRow, item, why, detail=stored_words(item.error))
