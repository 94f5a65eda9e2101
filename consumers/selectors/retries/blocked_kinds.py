"""Why a member's oldest message stays: pure rules over what the member says of itself. No kind from missing facts."""

from typing import NamedTuple

from consumers.selectors.overlay import iso

from .blocked_rows import BlockedKind
from .standing import Standing

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
# From this share of its consumeTimeout on a message is said to come near it.
NEAR_TIMEOUT = 0.8


class Verdict(NamedTuple):
    kind: BlockedKind
    why_unknown: str | None = None


def kind_of(head: Standing) -> Verdict:
    """UNKNOWN has its reason."""
    why = _why_untold(head)
    if why is not None:
        return Verdict(BlockedKind.UNKNOWN, why)
    return _orderly(head) if head.orderly else _concurrent(head)


def _why_untold(head: Standing) -> str | None:
    if head.is_stale:
        error = f": {head.client_error}" if head.client_error else ""
        return f"{head.client_id} has not said since {iso(head.told_at)} what it holds{error}"
    if head.is_pulling:
        return "it pulls by itself, and nobody tells what the application does with a message"
    if head.orderly is None:
        return f"{head.client_id} does not say whether it consumes in order"
    if head.failed_per_second is None:
        return f"{head.client_id} does not say how many messages of {head.topic} fail"
    return None


def _orderly(head: Standing) -> Verdict:
    """A suspended message is put back and taken again; taking notes the time (RocketMQ 5.4.0,
    ConsumeMessageOrderlyService.processConsumeResult, ProcessQueue.takeMessages). With autoCommit off messages are
    taken one after the other and all are held until the listener commits or rolls back; neither counts as a failure."""
    taken_ago, locked_ago = head.ago(head.last_consume_at), head.ago(head.last_lock_at)
    if taken_ago is None:
        return Verdict(BlockedKind.UNKNOWN, f"{head.client_id} does not say when it last took a message of the queue")
    if locked_ago is not None and locked_ago > LOCK_LASTS_SECONDS and not head.is_broadcasting:
        why = f"{head.client_id} has not renewed its lock on the queue for {locked_ago:.0f} s: it consumes nothing"
        return Verdict(BlockedKind.UNKNOWN, why)
    is_taken_again = taken_ago + CLOCK_SLACK_SECONDS < head.seen_seconds and taken_ago <= TRIED_SECONDS
    if not is_taken_again:
        # What fails is of other queues of the topic: a listener that runs has not given it back.
        return Verdict(BlockedKind.SLOW_MESSAGE)
    return Verdict(BlockedKind.ORDERLY_SUSPEND if head.failed_per_second else BlockedKind.NOT_COMMITTED)


def _concurrent(head: Standing) -> Verdict:
    """A message that cannot be sent back is tried again every 5 s and keeps its place (RocketMQ 5.4.0,
    ConsumeMessageConcurrentlyService.processConsumeResult). Broadcasting members drop what fails."""
    if head.failed_per_second and not head.is_broadcasting:
        sent = head.sendbacks
        if sent.refused is not None or (sent.arrive is False and _fails_as_often(head)):
            return Verdict(BlockedKind.LOCAL_RETRY)
        if sent.arrive is None and _fails_as_often(head):
            return Verdict(BlockedKind.UNKNOWN, f"messages fail; {sent.why_unknown}")
    timeout = head.timeout_seconds
    if timeout is not None and head.seconds >= NEAR_TIMEOUT * timeout:
        return Verdict(BlockedKind.TIMEOUT_NEAR)
    return Verdict(BlockedKind.SLOW_MESSAGE)


def _fails_as_often(head: Standing) -> bool:
    """As one message does that is tried locally: fewer failures are of others, which wait for their first retry."""
    mean_seconds = (head.status.get("consume_rt") or 0) / 1000
    return (head.failed_per_second or 0) >= COUNTED_TRIES / (TRIED_EVERY_SECONDS + mean_seconds)


def is_past_timeout(head: Standing) -> bool:
    """It should have been sent back: every consumeTimeout those are that run for longer than it (RocketMQ 5.4.0,
    ProcessQueue.cleanExpiredMsg), so none runs for more than twice of it."""
    timeout = head.timeout_seconds
    return head.orderly is False and timeout is not None and head.seconds > 2 * timeout
