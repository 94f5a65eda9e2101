"""Queues whose oldest message is not finished for longer than CONSUMERSCOPE_BLOCKED_AFTER_SECONDS."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from consumers.models import Assignment, GroupKind

from .blocked_evidence import evidence_of, facts_of
from .blocked_kinds import Verdict, kind_of
from .blocked_rows import BlockedKind, BlockedQueue, HeadFacts
from .blocked_words import blocked_sentence
from .heads import blocked_heads, message_facts, standings
from .standing import Standing

ALL_SHOWN = 50
Place = tuple[int, int]  # group id, queue id


def blocked_queues(cluster: str, group: str, now: datetime) -> list[BlockedQueue]:
    """Those of one group, the longest blocked first; none where there is no such group."""
    return _blocked(list(blocked_heads(now).filter(group__cluster__name=cluster, group__name=group)), now)


def all_blocked(cluster: str | None, now: datetime) -> list[BlockedQueue]:
    """Those of user groups of one cluster, or of all, the longest blocked first; at most ALL_SHOWN of them."""
    of_cluster = {} if cluster is None else {"cluster__name": cluster}
    rows = blocked_heads(now, kind=GroupKind.USER, **of_cluster)
    return _blocked(list(rows[:ALL_SHOWN]), now)


def blocked_places(places: Collection[Place], now: datetime) -> dict[Place, BlockedQueue]:
    """Of these queues of these groups, those that are blocked; of one with several owners, the longest."""
    if not places:
        return {}
    rows = blocked_heads(now).filter(group__in={group for group, _ in places}, queue__in={queue for _, queue in places})
    longest = {(row.group_id, row.queue_id): row for row in reversed(rows) if (row.group_id, row.queue_id) in places}
    return dict(zip(longest, _blocked(list(longest.values()), now), strict=True))


def _blocked(rows: Sequence[Assignment], now: datetime) -> list[BlockedQueue]:
    if not rows:
        return []
    messages = message_facts(rows)
    heads = standings(rows, now)
    return [
        blocked_queue(head, *messages[row.group_id, row.queue_id, row.client_id])
        for row, head in zip(rows, heads, strict=True)
    ]


def blocked_queue(head: Standing, message: HeadFacts | None, why_no_message: str | None) -> BlockedQueue:
    verdict = kind_of(head)
    return BlockedQueue(
        cluster=head.cluster,
        group=head.group,
        topic=head.topic,
        broker=head.broker,
        queue_id=head.queue_id,
        offset=head.offset,
        kind=verdict.kind,
        since=head.since,
        seconds=head.seconds,
        client_id=head.client_id,
        address=head.address,
        message=message,
        finished_out_of_order=head.finished_out_of_order,
        behind=head.behind,
        told_at=head.told_at,
        sentence=blocked_sentence(head, verdict, message),
        evidence=evidence_of(head),
        facts=facts_of(head),
        unknown=_unknown(head, verdict, {"message": why_no_message} if message is None else {}),
    )


def _unknown(head: Standing, verdict: Verdict, reasons: Mapping[str, str | None]) -> dict[str, str]:
    found = {name: reason or "" for name, reason in reasons.items()}
    if verdict.kind is BlockedKind.UNKNOWN:
        found["kind"] = verdict.why_unknown or ""
    if head.address is None:
        found["address"] = "no broker lists the member any more"
    if head.behind is None:
        ends = "the queue ends before the message: one of the two is from before a change"
        why = head.unread or (ends if head.after is None else "the member does not say how much it holds")
        found |= dict.fromkeys(("behind", "finished_out_of_order"), why)
    return found
