"""Resends as pages and REST show them, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.utils.translation import gettext, gettext_lazy

from consumers.models import ConsumerGroup, Destination, Resend, ResendItem, ResendOutcome, ResendStatus
from consumers.queries.declared import answer, answered, public
from consumers.words.reasons import stored_words


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
        "message_id": gettext("the message has no id of its producer"),
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
