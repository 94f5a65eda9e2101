"""Queues whose oldest message is not finished for longer than CONSUMERSCOPE_BLOCKED_AFTER_SECONDS."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.utils.translation import gettext, gettext_lazy, ngettext

from consumers.models import Assignment, GroupKind
from consumers.queries.declared import copied
from consumers.retries.blocked_rows import BLOCKED_KINDS, BlockedKind, BlockedQueue, StoredHead
from consumers.retries.heads import StuckMessage, blocked_heads, message_facts, stuck_messages
from consumers.rocketmq.bodies.client_bodies import DEFAULTS
from consumers.vocabulary.times import iso
from consumers.words.marks import labelled, listed
from consumers.words.reasons import queues_not_since, stored_words
from consumers.words.spans import age, count, messages, rate

# What the kind of a blocked queue was told by: in words, and as numbers for JSON.


def facts_of(head: StuckMessage) -> dict[str, Any]:
    """Null is: the client does not say."""
    return {
        "orderly": head.orderly,
        "failed_per_second": head.failed_per_second,
        "ok_per_second": head.ok_per_second,
        "failed_messages_last_hour": head.status.get("consume_failed_messages"),
        "mean_consume_ms": head.status.get("consume_rt"),
        "cached_messages": head.cached_count,
        "cached_mib": head.cached_mib,
        "cached_span": head.cached_span,
        "consumer_offset_in_memory": head.commit_offset,
        "last_consume_seconds": head.ago(head.last_consume_at),
        "last_lock_seconds": head.ago(head.last_lock_at) if head.orderly else None,
        "consume_timeout_seconds": head.timeout_seconds if head.orderly is False else None,
        "retries_arrive": head.sendbacks.arrive,
        "retries_refused": head.sendbacks.refused,
        "last_heard_at": iso(head.last_heard_at),
    }


def evidence_of(head: StuckMessage) -> list[str]:
    """Facts in words, those that decide first."""
    return [*_of_failures(head), *_of_the_queue(head), *_of_the_client(head)]


def _of_failures(head: StuckMessage) -> Iterator[str]:
    failed, ok = head.failed_per_second, head.ok_per_second
    if failed is not None:
        words = {"topic": head.topic, "failed": rate(failed)}
        yield gettext("%(failed)s of %(topic)s failed at this member in its last minute, over all its queues") % words
    if ok is not None:
        yield gettext("%(ok)s succeed") % {"ok": rate(ok)}
    if head.orderly is False and failed and not head.is_broadcasting:
        sent = head.sendbacks
        if sent.arrive is True:
            yield gettext("failed messages of the group arrive in its retry topic")
        elif sent.arrive is False:
            yield gettext("no message arrived in the group's retry topic meanwhile")
        elif sent.why_unknown:
            yield sent.why_unknown
    if head.sendbacks.refused:
        yield head.sendbacks.refused
    if head.is_broadcasting:
        yield gettext("broadcasting group: failed messages are dropped, never sent back")


def _of_the_queue(head: StuckMessage) -> Iterator[str]:
    finished, taken_ago = head.finished_out_of_order, head.ago(head.last_consume_at)
    if head.cached_count is not None:
        yield gettext("the member has cached %(messages)s of the queue") % {"messages": messages(head.cached_count)}
    if finished:
        words = {"messages": messages(finished)}
        yield gettext("the member finished up to %(messages)s behind it, or its tags exclude them") % words
    if taken_ago is not None:
        words = {"age": age(max(0, taken_ago))}
        if head.orderly:
            yield gettext("it last took a message of the queue %(age)s before its last report") % words
        elif head.orderly is False:
            yield (gettext("it last started or finished a message of the queue %(age)s before its last report") % words)
    if head.commit_offset is not None and head.commit_offset < head.offset:
        words = {"offset": count(head.commit_offset), "head": count(head.offset)}
        yield gettext("its offset in memory is %(offset)s, before the oldest cached message (%(head)s)") % words


def _of_the_client(head: StuckMessage) -> Iterator[str]:
    if head.flow_control is not None:
        name, limit = head.flow_control
        words = {"name": name, "limit": count(limit)}
        yield gettext("flow control: it has stopped pulling the queue (%(name)s %(limit)s)") % words
    elif head.unreported_limits and head.cached_count:
        defaults = listed(f"{name} {count(int(DEFAULTS[name]))}" for name in head.unreported_limits)
        yield gettext("flow control unknown: the member does not report its thresholds (defaults: %(defaults)s)") % {
            "defaults": defaults
        }
    if head.orderly and head.failed_per_second == 0:
        yield gettext("an orderly listener with autoCommit=false that does not commit looks the same")
    if head.orderly is False and head.timeout_seconds is not None:
        words = {"timeout": age(head.timeout_seconds)}
        yield gettext("consumeTimeout is %(timeout)s: messages that run longer are sent back while they run") % words
    if head.cached_count and head.busy_threads is not None and head.busy_threads[0] >= BUSY * head.busy_threads[1]:
        words = {"busy": f"{head.busy_threads[0]:,.1f}", "n": count(head.busy_threads[1])}
        yield gettext("its threads may all be busy: its messages took %(busy)s of %(n)s on average") % words
    if head.orderly is False and head.ok_per_second == 0 and not head.failed_per_second:
        threads = head.settings.get("consumeThreadMax")
        if threads:
            template = ngettext(
                "no message of the topic was finished: its one thread may be busy",
                "no message of the topic was finished: all %(n)s threads may be busy",
                int(threads),
            )
            yield template % {"n": threads}


# Why a member's oldest message stays: pure rules over what the member says of itself. No kind from missing facts.

# So old may a client's clock be, as its answer shows it: an orderly member locks its queues again every 20 s.
CLOCK_SLACK_SECONDS = 20

# An orderly member tries a message again after 30 s at most (RocketMQ 5.4.0, ConsumeMessageOrderlyService.
# submitConsumeRequestLater), and counts failures of a minute.
TRIED_SECONDS = 60

# An orderly member consumes nothing under an older lock (RocketMQ 5.4.0, ProcessQueue.REBALANCE_LOCK_MAX_LIVE_TIME).
LOCK_LASTS_SECONDS = 30

# A member tries what it could not send back again after so long (RocketMQ 5.4.0, ConsumeMessageConcurrentlyService.
# submitConsumeRequestLater). A bit less than all of a minute's tries are counted when it is heard.
TRIED_EVERY_SECONDS, COUNTED_TRIES = 5, 0.7

# From this share of its threads on they may all be busy.
BUSY = 0.9

# From this share of its consumeTimeout on a message is said to come near it.
NEAR_TIMEOUT = 0.8


class BlockedReason(NamedTuple):
    kind: BlockedKind
    why_unknown: str | None = None


def kind_of(head: StuckMessage) -> BlockedReason:
    """UNKNOWN has its reason."""
    why = _why_unknown(head)
    if why is not None:
        return BlockedReason(BlockedKind.UNKNOWN, why)
    return _orderly(head) if head.orderly else _concurrent(head)


def _why_unknown(head: StuckMessage) -> str | None:
    if head.is_stale:
        silence = queues_not_since(head.client_id, head.last_heard_at)
        return labelled(silence, stored_words(head.client_error)) if head.client_error else silence
    if head.is_pulling:
        return gettext("the member pulls by itself: how the application handles a message is unknown")
    if head.orderly is None:
        return gettext("%(client_id)s does not report whether it consumes in order") % {"client_id": head.client_id}
    if head.failed_per_second is None:
        return gettext("%(client_id)s does not report how many messages of %(topic)s fail") % {
            "client_id": head.client_id,
            "topic": head.topic,
        }
    return None


def _orderly(head: StuckMessage) -> BlockedReason:
    """A suspended message is put back and taken again; taking notes the time (RocketMQ 5.4.0,
    ConsumeMessageOrderlyService.processConsumeResult, ProcessQueue.takeMessages). With autoCommit off messages are
    taken one after the other and all are held until the listener commits or rolls back; neither counts as a failure."""
    taken_ago, locked_ago = head.ago(head.last_consume_at), head.ago(head.last_lock_at)
    if taken_ago is None:
        return BlockedReason(
            BlockedKind.UNKNOWN,
            gettext("%(client_id)s does not report when it last took a message of the queue")
            % {"client_id": head.client_id},
        )
    if locked_ago is not None and locked_ago > LOCK_LASTS_SECONDS and not head.is_broadcasting:
        why = gettext(
            "%(client_id)s has not renewed its lock on the queue for %(seconds)s s, so it consumes nothing"
        ) % {"client_id": head.client_id, "seconds": f"{locked_ago:.0f}"}
        return BlockedReason(BlockedKind.UNKNOWN, why)
    is_taken_again = taken_ago + CLOCK_SLACK_SECONDS < head.seen_seconds and taken_ago <= TRIED_SECONDS
    if not is_taken_again:
        # What fails is of other queues of the topic: a listener that runs has not given it back.
        return BlockedReason(BlockedKind.SLOW_MESSAGE)
    return BlockedReason(BlockedKind.ORDERLY_SUSPEND if head.failed_per_second else BlockedKind.NOT_COMMITTED)


def _concurrent(head: StuckMessage) -> BlockedReason:
    """A message that cannot be sent back is tried again every 5 s and keeps its place (RocketMQ 5.4.0,
    ConsumeMessageConcurrentlyService.processConsumeResult). Broadcasting members drop what fails."""
    if head.failed_per_second and not head.is_broadcasting:
        sent = head.sendbacks
        if sent.refused is not None or (sent.arrive is False and _fails_as_often(head)):
            return BlockedReason(BlockedKind.LOCAL_RETRY)
        if sent.arrive is None and _fails_as_often(head):
            return BlockedReason(BlockedKind.UNKNOWN, gettext("messages fail; %(why)s") % {"why": sent.why_unknown})
    timeout = head.timeout_seconds
    if timeout is not None and head.seconds >= NEAR_TIMEOUT * timeout:
        return BlockedReason(BlockedKind.TIMEOUT_NEAR)
    return BlockedReason(BlockedKind.SLOW_MESSAGE)


def _fails_as_often(head: StuckMessage) -> bool:
    """As one message does that is tried locally: fewer failures are of others, which wait for their first retry."""
    mean_seconds = (head.status.get("consume_rt") or 0) / 1000
    return (head.failed_per_second or 0) >= COUNTED_TRIES / (TRIED_EVERY_SECONDS + mean_seconds)


def is_past_timeout(head: StuckMessage) -> bool:
    """It should have been sent back: every consumeTimeout those are that run for longer than it (RocketMQ 5.4.0,
    ProcessQueue.cleanExpiredMsg), so none runs for more than twice of it."""
    timeout = head.timeout_seconds
    return head.orderly is False and timeout is not None and head.seconds > 2 * timeout


# What is said of a blocked queue, in the language of the request.

KEYS_SHOWN = 60

PAST_TIMEOUT = gettext_lazy(
    "%(member)s has not finished %(message)s for more than twice its timeout of %(timeout)s: sending it back fails,"
    " too, or no thread has started it"
)


def blocked_sentence(head: StuckMessage, reason: BlockedReason, message: StoredHead | None) -> str:
    """`blocked 12 min on Stock/broker-a/3: message 48,211 (o-7) is suspended by … · 9,120 messages wait behind it`."""
    spec = BLOCKED_KINDS[reason.kind]
    what = PAST_TIMEOUT if reason.kind is BlockedKind.TIMEOUT_NEAR and is_past_timeout(head) else spec.sentence
    opening = gettext("blocked %(age)s on %(place)s: %(what)s") % {
        "age": age(head.seconds),
        "place": f"{head.topic}/{head.broker}/{head.queue_id}",
        "what": str(what)
        % {
            "message": _named(head, message),
            "member": head.client_id,
            "failing": rate(head.failed_per_second or 0),
            "timeout": age(head.timeout_seconds or 0),
            "why": reason.why_unknown,
        },
    }
    refused = head.sendbacks.refused if spec.is_refusable else None
    parts = [opening, *([refused] if refused else [])]
    if head.behind:
        parts.append(gettext("blocks %(messages)s") % {"messages": messages(head.behind)})
    return " · ".join(parts)


def _named(head: StuckMessage, message: StoredHead | None) -> str:
    words = {"offset": count(head.offset)}
    if message is None or not message.keys:
        return gettext("message %(offset)s") % words
    return gettext("message %(offset)s (%(keys)s)") % (words | {"keys": message.keys[:KEYS_SHOWN]})


Place = tuple[int, int]  # group id, queue id


def blocked_queues(cluster: str, group: str, now: datetime) -> list[BlockedQueue]:
    """Those of one group, the longest blocked first; none where there is no such group."""
    return _blocked(list(blocked_heads(now).filter(group__cluster__name=cluster, group__name=group)), now)


def all_blocked(cluster: str | None, now: datetime, shown: int) -> tuple[list[BlockedQueue], int]:
    """The `shown` that are blocked longest of user groups of one cluster, or of all, and how many there are."""
    of_cluster = {} if cluster is None else {"cluster__name": cluster}
    rows = blocked_heads(now, kind=GroupKind.USER, **of_cluster)
    return _blocked(list(rows[:shown]), now), rows.count()


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
    heads = stuck_messages(rows, now)
    return [
        blocked_queue(head, *messages[row.group_id, row.queue_id, row.client_id])
        for row, head in zip(rows, heads, strict=True)
    ]


def blocked_queue(head: StuckMessage, message: StoredHead | None, why_no_message: str | None) -> BlockedQueue:
    reason = kind_of(head)
    return copied(
        BlockedQueue,
        head,
        kind=reason.kind,
        message=message,
        sentence=blocked_sentence(head, reason, message),
        evidence=evidence_of(head),
        facts=facts_of(head),
        unknown=_unknown(head, reason, {"message": why_no_message} if message is None else {}),
    )


def _unknown(head: StuckMessage, blocked: BlockedReason, reasons: Mapping[str, str | None]) -> dict[str, str]:
    found = {name: reason or "" for name, reason in reasons.items()}
    if blocked.kind is BlockedKind.UNKNOWN:
        found["kind"] = blocked.why_unknown or ""
    if head.address is None:
        found["address"] = gettext("no broker lists the member now")
    if head.behind is None:
        ends = gettext("the queue ends before the message: one of the two was polled before a change")
        why = head.unread or (
            ends if head.after is None else gettext("the member does not report how many messages it has cached")
        )
        found |= dict.fromkeys(("behind", "finished_out_of_order"), why)
    return found
