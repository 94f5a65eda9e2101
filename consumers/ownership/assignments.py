"""Owners of queues: by the newest reports, or at a past time as far as the reports around it prove."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from consumers.models import Client, ConsumerGroup
from consumers.ownership.segments import (
    Claim,
    Claims,
    Patience,
    Segment,
    claims_between,
    first_claims,
    newest_claims,
    patience_of,
    segments,
)
from consumers.ownership.timeline import GroupDoubts
from consumers.queries.limits import BrokerAge, broker_ages, limits
from consumers.queries.queues.overlay import NOT_SAMPLED
from consumers.vocabulary.reasons import CodedReason, ReasonCode
from consumers.vocabulary.times import MICROSECOND
from consumers.words.marks import chained, listed
from consumers.words.reasons import coded_reason, queues_not_since
from consumers.words.spans import when

from .group_shares import ExpectedOwners, expected_owners
from .reports import OwnableQueue, ownable_queues, why_ownerless
from .rows import AssignmentRow, Holding


def why_nothing_is_read(brokers: Sequence[BrokerAge], now: datetime) -> str | None:
    """Members are asked by way of any broker: where none is read, nobody knows what they hold."""
    unread = [broker.unread_reason(now, limits()) for broker in brokers]
    return next(iter(unread), gettext("no broker of the cluster is known yet")) if None not in unread else None


def answers_of(group: ConsumerGroup) -> tuple[list[bool], Patience]:
    """Returns whether each present member answered the last request, and how long its last report is valid."""
    present = Client.objects.filter(group=group, gone_by=None)
    answered = list(present.values_list("client_id", "running_info_at", "running_info_error"))
    answers = [at is not None and error is None for _, at, error in answered]
    return answers, patience_of(group, frozenset(client_id for client_id, _, error in answered if error))


def no_owner_reason(group: ConsumerGroup, answers: Sequence[bool]) -> str:
    """Why a queue has no owner to show; `answers`: of each present member, whether it spoke."""
    if not answers and group.online is False:
        return coded_reason(ReasonCode.NO_MEMBER)
    if not any(answers):
        return str(NOT_SAMPLED)
    return coded_reason(ReasonCode.NO_OWNER) if all(answers) else gettext("no member that answered owns it")


def owners_now(claims: Sequence[Claim], patience: Patience, now: datetime) -> tuple[Sequence[Claim], str]:
    """Those of the newest claims on a queue that still hold; and why, where there are some and none does."""
    held = [claim for claim in claims if claim.certain_until(patience) > now]
    return held, "" if held or not claims else queues_not_since(claims[-1].owner, claims[-1].reported_at)


STILL = gettext_lazy("owned when the member last answered")
OF_AN_OWNER = ("owner", "seen_since", "last_seen", "gone_by")

Owners = Callable[[OwnableQueue], tuple[Sequence[Claim], str]]  # and why there is none


def assignments(
    group: ConsumerGroup,
    *,
    now: datetime,
    at: datetime | None = None,
    topic: str | None = None,
    expected: ExpectedOwners | None = None,
) -> list[AssignmentRow]:
    """A row for each owner of a queue, and for each queue without: by topic, broker, queue and owner.

    Without `at` the newest; `expected` is then what `expected_owners` gives, for who has it at hand. The number of
    queries does not depend on that of queues and members.
    """
    return _at(group, at, topic) if at is not None else _newest(group, now, topic, expected)


def _newest(
    group: ConsumerGroup, now: datetime, topic: str | None, expected: ExpectedOwners | None
) -> list[AssignmentRow]:
    claims = newest_claims(group)
    unread = why_nothing_is_read(broker_ages([group.cluster_id])[group.cluster_id].brokers, now)
    expected = (expected or expected_owners(group)) if unread is None else ExpectedOwners(why=unread)
    answers, patience = answers_of(group)
    reason = why_ownerless(group) or no_owner_reason(group, answers)

    def owners(queue: OwnableQueue) -> tuple[Sequence[Claim], str]:
        held: Sequence[Claim] = claims.get(queue.pk, ())
        if unread is None:
            held, why = owners_now(held, patience, now)
            return held, why or reason
        before = chained(
            gettext("%(owner)s owned it at %(at)s") % {"owner": claim.owner, "at": when(claim.reported_at)}
            for claim in held
        )
        return (), chained([unread, before]) if before else unread

    return _rows(ownable_queues(group, claims.keys(), topic=topic), owners, expected)


def _at(group: ConsumerGroup, at: datetime, topic: str | None) -> list[AssignmentRow]:
    claims = claims_between(group, at, at + MICROSECOND)
    doubts = GroupDoubts.of(group, claims, at, at + MICROSECOND, why_ownerless(group))
    then = first_claims(group, at, _last_denial(claims, at))
    queues = ownable_queues(group, claims.keys(), topic=topic)

    def segment_of(queue: OwnableQueue) -> Segment:
        of_queue = [*claims.get(queue.pk, ()), *then.get(queue.pk, ())]
        return segments(of_queue, doubts.of_queue(queue), at, at + MICROSECOND)[0]

    without = why_nobody(doubts)

    def owners(queue: OwnableQueue) -> tuple[Sequence[Claim], str]:
        segment = segment_of(queue)
        if segment.holding in (Holding.OWNER, Holding.SEVERAL):
            return segment.claims, ""
        if segment.holding is Holding.CHANGED:
            return (), changed_words(segment)
        return (), segment.reason or without

    return _rows(queues, owners, expected_owners(group, at))


def why_nobody(doubts: GroupDoubts) -> CodedReason:
    """Returns why a queue had no owner at a time at which everything else is known."""
    if doubts.listed.members:
        return CodedReason(ReasonCode.NO_OWNER, gettext("no member owned it: all had reported their queues"))
    return CodedReason(ReasonCode.NO_MEMBER, gettext("the group had no member"))


def _last_denial(claims: Claims, at: datetime) -> datetime:
    """Returns when an answer last denied an owner that had been reported before."""
    denials = [
        claim.gone_by for of_queue in claims.values() for claim in of_queue if claim.gone_by and claim.reported_at < at
    ]
    return max(denials, default=at)


def changed_words(segment: Segment) -> str:
    """Between which answers a queue changed hands, and from whom to whom."""
    left = [claim for claim in segment.claims if claim.gone_by is not None and claim.reported_at < segment.since]
    if not left:
        return gettext("reported at once by %(owners)s: one had just taken it over") % {
            "owners": listed(claim.owner for claim in segment.claims)
        }
    reported_at, denied = (
        max(times) for times in zip(*((c.reported_at, c.gone_by or c.reported_at) for c in left), strict=True)
    )
    between = gettext("between %(after)s and %(before)s") % {
        "after": when(reported_at),
        "before": when(denied),
    }
    names, after = _names(left), _names([claim for claim in segment.claims if claim not in left])
    if not after:
        return gettext("released %(between)s by %(owners)s") % {"between": between, "owners": names}
    return (
        gettext("released and taken again %(between)s by %(owners)s") % {"between": between, "owners": names}
        if names == after
        else gettext("reassigned %(between)s: %(owners)s, then %(after)s")
        % {"between": between, "after": after, "owners": names}
    )


def _names(claims: Sequence[Claim]) -> str:
    return listed(dict.fromkeys(claim.owner for claim in claims))


def _rows(queues: Sequence[OwnableQueue], owners: Owners, expected: ExpectedOwners) -> list[AssignmentRow]:
    rows: list[AssignmentRow] = []
    for queue in queues:
        expected_owner, unexpected = expected.of_queue(queue.pk)
        place: dict[str, Any] = {"topic": queue.topic, "broker": queue.broker, "queue_id": queue.queue_id}
        reasons = {"expected_owner": unexpected} if expected_owner is None else {}
        held, why = owners(queue)
        if not held:
            nothing: dict[str, Any] = dict.fromkeys(OF_AN_OWNER)
            unknown = reasons | dict.fromkeys(OF_AN_OWNER, why)
            rows.append(AssignmentRow(**place, **nothing, expected_owner=expected_owner, unknown=unknown))
        for claim in sorted(held):
            rows.append(
                AssignmentRow(
                    **place,
                    owner=claim.owner,
                    seen_since=claim.since,
                    last_seen=claim.reported_at,
                    gone_by=claim.gone_by,
                    expected_owner=expected_owner,
                    unknown=reasons | ({"gone_by": str(STILL)} if claim.gone_by is None else {}),
                )
            )
    return rows
