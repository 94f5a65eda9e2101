"""What is wrong with the ownership of a group, the worst first, and what it was checked against."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.utils.translation import gettext

from consumers.models import ConsumerGroup
from consumers.ownership.shares.facts import Sort
from consumers.ownership.shares.group_shares import expected_of, group_shares, ring_checked, strategies
from consumers.queries.limits import limits
from consumers.queries.texts import age, iso

from .finding import Kind, Level, OwnershipCheck, OwnershipFinding
from .troubles.agreement import orderly_and_concurrent, settings_differ, strategies_differ, subscriptions_differ
from .troubles.evidence import Evidence, effects, held_queues
from .troubles.membership import brokers_differ, duplicate_ids, locks_lost, silent, too_few_queues
from .troubles.queues import doubly_owned, unexpected, unowned

# What leaves unread who is to own a queue; other sorts are what the group is like.
UNREAD = (Sort.NOT_LISTED, Sort.SILENT, Sort.CONNECTIONS)


def findings(group: ConsumerGroup, now: datetime) -> list[OwnershipFinding]:
    return list(ownership_check(group, now).findings)


def ownership_check(group: ConsumerGroup, now: datetime) -> OwnershipCheck:
    """Nothing is found on one reading's doubt. Ten queries at most, however many queues and members there are."""
    held = held_queues(group)
    holders = {queue: tuple(one.client_id for one in of_queue) for queue, of_queue in held.items()}
    evidence = Evidence(group, now, ring_checked(group_shares(group), lambda: holders), held)
    stale = _why_stale(group, now)
    found = [] if stale else sorted(_found(evidence), key=lambda finding: finding.place)
    answered = [member.answered_at for member in evidence.members]
    compared, as_expected = _compared(evidence)
    why = stale or _why_none_compared(evidence, compared)
    return OwnershipCheck(
        findings=found,
        expected=expected_of(evidence.shares),
        members=len(evidence.members),
        strategies=strategies(evidence.members),
        answered_at=None if None in answered else min((at for at in answered if at is not None), default=None),
        compared_queues=0 if why else compared,
        as_expected=0 if why else as_expected,
        why_not_compared=why,
        is_read=stale is None and _is_read(evidence),
    )


def _found(evidence: Evidence) -> Iterator[OwnershipFinding]:
    if not evidence.members:
        return
    effect = effects(evidence)
    yield from duplicate_ids(evidence, effect)
    yield from brokers_differ(evidence, effect)
    yield from silent(evidence)
    if not evidence.is_calm:
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


def _settling(evidence: Evidence) -> Iterator[OwnershipFinding]:
    changed = evidence.group.members_changed_at
    # Whoever was never read whole has not changed either.
    if changed is None:
        return
    words = {"age": age((evidence.now - changed).total_seconds())}
    yield OwnershipFinding(
        kind=Kind.SETTLING,
        level=Level.NOTE,
        sentence=gettext("Settling: its members, their queues or subscriptions last changed %(age)s ago.") % words,
        cure=gettext("Nothing: it is compared once two whole readings agree."),
        facts={"members_changed_at": changed.isoformat()},
        since=changed,
    )


def _why_stale(group: ConsumerGroup, now: datetime) -> str | None:
    """Rows that nobody has looked after for long tell of another time."""
    at = group.membership_at
    if at is not None and now - at > timedelta(seconds=limits().kinds.evidence_seconds):
        return gettext("not every broker has reported the group's members since %(since)s") % {"since": iso(at)}
    return None


def _is_read(evidence: Evidence) -> bool:
    why, group = evidence.shares.why, evidence.group
    if not evidence.members:
        return group.online is False and (why is None or why.sort is not Sort.NOT_LISTED)
    if why is not None and why.sort in UNREAD:
        return False
    if any(share.why is not None and share.why.sort is Sort.CONFIGURATION for share in evidence.topics):
        return False
    return group.settled_at is not None or group.members_changed_at is not None or bool(why)


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
        return gettext("members use different strategies: %(strategies)s") % {"strategies": ", ".join(mixed)}
    return doubted or gettext("no queue of a subscribed topic is known")
