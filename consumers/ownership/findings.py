"""What is wrong with the ownership of a group, the worst first, and what it was checked against."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.utils.translation import gettext

from consumers.models import ConsumerGroup
from consumers.models.asked_once import asked_once
from consumers.ownership.membership import (
    brokers_differ,
    duplicate_ids,
    locks_lost,
    orderly_and_concurrent,
    settings_differ,
    silent,
    strategies_differ,
    subscriptions_differ,
    too_few_queues,
)
from consumers.queries.findings import DetectedFinding
from consumers.queries.limits import limits
from consumers.vocabulary.findings import FindingCode
from consumers.words.marks import listed
from consumers.words.reasons import members_not_since

from .evidence import Evidence, doubly_owned, effects, held_queues, unexpected, unowned
from .group_shares import ExpectedOwners, expected_of, group_shares, ring_checked, strategies
from .reports import Sort

# What leaves unread who is to own a queue; other sorts are what the group is like.
UNREAD = (Sort.NOT_LISTED, Sort.SILENT, Sort.CONNECTIONS)
NOT_CHECKED, NOT_HEARD = "not checked", "not heard"


@dataclass(frozen=True, kw_only=True)
class OwnershipCheck:
    """The findings, the worst first, and what they were found by: `expected` is what `expected_owners` gives.

    `why_not_compared`: why owners were not compared with what the members compute; other findings may stand all the
    same. Else `compared_queues` is how many were, %RETRY% topics left out, and `as_expected` how many of them have
    exactly their expected owner. `answered_at`: of the members' newest answers the oldest; null while one never spoke.
    `is_read`: who is in the group, and what each member says of itself, was read of late; nobody in it is known too. A
    member whose newest answer failed leaves it so while its former one accounts for every queue.
    `why_unread`: the code of the reason where it was not.
    """

    findings: Sequence[DetectedFinding]
    expected: ExpectedOwners
    members: int
    strategies: Sequence[str] = field(default_factory=list)
    answered_at: datetime | None = None
    compared_queues: int = 0
    as_expected: int = 0
    why_not_compared: str | None = None
    is_read: bool = True
    why_unread: str = NOT_CHECKED

    @property
    def unknown(self) -> DetectedFinding | None:
        """Where not everything was read: that findings may be missing."""
        if self.is_read:
            return None
        return DetectedFinding(
            code=FindingCode.OWNERSHIP_UNKNOWN, params={"why": self.why_unread}, why=self.why_not_compared or ""
        )


def findings(group: ConsumerGroup, now: datetime) -> list[DetectedFinding]:
    return list(ownership_check(group, now).findings)


@asked_once
def ownership_check(group: ConsumerGroup, now: datetime) -> OwnershipCheck:
    """Nothing is found on one reading's doubt. Ten queries at most, however many queues and members there are."""
    held = held_queues(group)
    holders = {queue: tuple(one.client_id for one in of_queue) for queue, of_queue in held.items()}
    evidence = Evidence(group, now, ring_checked(group_shares(group), lambda: holders), held)
    stale = _why_stale(group, now)
    found = [] if stale else [replace(one, group=group.name) for one in _found(evidence)]
    answered = [member.answered_at for member in evidence.members]
    compared, as_expected = _compared(evidence)
    why = stale or _why_none_compared(evidence, compared)
    return OwnershipCheck(
        findings=sorted(found, key=lambda finding: finding.place),
        expected=expected_of(evidence.shares),
        members=len(evidence.members),
        strategies=strategies(evidence.members),
        answered_at=None if None in answered else min((at for at in answered if at is not None), default=None),
        compared_queues=0 if why else compared,
        as_expected=0 if why else as_expected,
        why_not_compared=why,
        is_read=stale is None and _is_read(evidence),
        why_unread=_why_unread(evidence) if stale is None else Sort.NOT_LISTED.value,
    )


def _found(evidence: Evidence) -> Iterator[DetectedFinding]:
    if not evidence.members:
        return
    effect = effects(evidence)
    yield from duplicate_ids(evidence, effect)
    yield from brokers_differ(evidence, effect)
    yield from silent(evidence)
    if not evidence.is_stable:
        yield from _settling(evidence)
        return
    yield from strategies_differ(evidence, effect)
    yield from subscriptions_differ(evidence, effect)
    yield from orderly_and_concurrent(evidence)
    yield from settings_differ(evidence, effect)
    yield from unowned(evidence, effect)
    yield from doubly_owned(evidence, effect)
    yield from unexpected(evidence)
    yield from locks_lost(evidence)
    yield from too_few_queues(evidence)


def _settling(evidence: Evidence) -> Iterator[DetectedFinding]:
    changed = evidence.group.members_changed_at
    # Whoever was never read whole has not changed either.
    if changed is None:
        return
    yield DetectedFinding(
        code=FindingCode.SETTLING,
        params={"changed_seconds": (evidence.now - changed).total_seconds()},
        since=changed,
    )


def _why_stale(group: ConsumerGroup, now: datetime) -> str | None:
    """Returns why rows that were last updated long ago do not describe the present."""
    at = group.membership_at
    if at is not None and now - at > timedelta(seconds=limits().kinds.evidence_seconds):
        return members_not_since(at)
    return None


def _is_read(evidence: Evidence) -> bool:
    why, group = evidence.shares.why, evidence.group
    if not evidence.members:
        return group.online is False and (why is None or why.sort is not Sort.NOT_LISTED)
    if why is not None and why.sort in UNREAD:
        return False
    if any(map(evidence.is_doubtful, evidence.topics)):
        return False
    if any(share.why is not None and share.why.sort is Sort.CONFIGURATION for share in evidence.topics):
        return False
    return group.settled_at is not None or group.members_changed_at is not None or bool(why)


def _why_unread(evidence: Evidence) -> str:
    """A code; its words are in consumers.words.findings."""
    doubts = [evidence.shares.why, *(share.why for share in evidence.topics)]
    return next((why.sort.value for why in doubts if why is not None), NOT_HEARD if evidence.silent else NOT_CHECKED)


def _compared(evidence: Evidence) -> tuple[int, int]:
    """How many queues have an expectation, nobody among them, and how many of these are held just so."""
    if evidence.shares.why is not None or len(strategies(evidence.members)) > 1:
        return 0, 0
    computed = [share for share in evidence.topics if share.why is None]
    exact = sum(
        len(owners := share.owners.get(queue, ())) == 1
        and [one.client_id for one in evidence.held.get(queue, ())] == list(owners)
        for share in computed
        for queue in share.queues
    )
    return sum(len(share.queues) for share in computed), exact


def _why_none_compared(evidence: Evidence, compared: int) -> str | None:
    if evidence.shares.why is not None:
        return evidence.shares.why.sentence
    if evidence.group.settled_at is None and evidence.group.members_changed_at is None:
        return gettext("no poll has asked all members yet")
    if compared:
        return None
    doubted = next((share.why.sentence for share in evidence.topics if share.why), None)
    if doubted is None and len(mixed := strategies(evidence.members)) > 1:
        return gettext("members use different strategies: %(strategies)s") % {"strategies": listed(mixed)}
    return doubted or gettext("no queue of a subscribed topic is known")
