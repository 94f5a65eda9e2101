"""Repeats and attempts of messages in words: causes and their evidence, kinds of copies, how a delivery is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.repeats import (
    AttemptProgress,
    AttemptUnknown,
    Confidence,
    CopyKind,
    DeliveryBasis,
    RepeatCause,
    RepeatEvidence,
    RepeatSource,
    RepeatUnknown,
)

from .logs import log_event_words
from .spans import with_counts, with_plain_times

Text = str | Promise

# Whatever the cause, an application that knows what it has done already is not harmed.
IDEMPOTENT = _("Make the listener idempotent: RocketMQ delivers at least once.")


@dataclass(frozen=True)
class RepeatCauseWords:
    cause: RepeatCause
    label: Text
    action: Text
    prevention: Text


_WORDS = (
    RepeatCauseWords(
        RepeatCause.CONSUMER_CRASH,
        _("consumer crashed"),
        _("Find out why the member ended: kill -9, out of memory, or a lost host."),
        _("Stop members with shutdown() and a signal that they handle. A shorter persistConsumerOffsetInterval and "
          "smaller pulls make a crash repeat less."),
    ),
    RepeatCauseWords(
        RepeatCause.SHUTDOWN_DID_NOT_WAIT,
        _("shutdown did not wait"),
        _("Compare the shutdown time with the time that one message takes."),
        _("Set awaitTerminationMillisWhenShutdown above the longest consumption time, and let the host wait as long."),
    ),
    RepeatCauseWords(
        RepeatCause.FINISHED_OUT_OF_ORDER,
        _("finished out of order, then crashed"),
        _("Find the slow message at the front of the queue, and why the member ended."),
        _("Bound the time of one message. A smaller consumeConcurrentlyMaxSpan limits what is finished behind it."),
    ),
    RepeatCauseWords(
        RepeatCause.LOCAL_RETRY_RESTART,
        _("local retry, then restart"),
        _("Find the message that fails again and again, and correct it or let it go to the DLQ."),
        _("Set maxReconsumeTimes, so that an orderly listener does not retry one message forever."),
    ),
    RepeatCauseWords(
        RepeatCause.STALE_OFFSET,
        _("rebalance with a stale offset"),
        _("Check the rebalance: what the old owner had consumed was not committed yet."),
        _("Rebalance less often: start members together, and keep them connected."),
    ),
    RepeatCauseWords(
        RepeatCause.TWO_OWNERS,
        _("two owners at once"),
        _("Open Ownership: compare member lists, allocation strategies and subscriptions."),
        _("Give all members of a group the same strategy, subscription and version."),
    ),
    RepeatCauseWords(
        RepeatCause.DUPLICATE_CLIENT_ID,
        _("duplicate client ID"),
        _("Give each process its own client ID, then restart the ones that share it."),
        _("Set instanceName or clientIP per process. Clients before 4.9 use ip@pid, which collides in containers."),
    ),
    RepeatCauseWords(
        RepeatCause.RESET,
        _("offset reset"),
        _("Nothing, if the reset was intended. Its page has the rollback."),
        _("Review the plan's redelivered messages before you apply a reset."),
    ),
    RepeatCauseWords(
        RepeatCause.RESET_ELSEWHERE,
        _("offset set back by someone else"),
        _("Ask who used mqadmin, another console, or seek() then."),
        _("Reset offsets here only: each reset has a plan, an audit record and a rollback."),
    ),
    RepeatCauseWords(
        RepeatCause.BROKER_CRASH,
        _("broker crashed"),
        _("Find out why the broker ended. Its file lacked the commits since the last flush."),
        _("Stop brokers with mqshutdown. A shorter flushConsumerOffsetInterval makes a crash repeat less."),
    ),
    RepeatCauseWords(
        RepeatCause.SLAVE_FAILOVER,
        _("failover to a slave with older offsets"),
        _("Bring the master back, and check how far its slave lags."),
        _("Slaves copy offsets every 10 s: take a master out only after its consumers paused."),
    ),
    RepeatCauseWords(
        RepeatCause.OFFSET_FILE_LOST,
        _("offset file lost"),
        _("Restore consumerOffset.json, or reset the group to where it was."),
        _("Keep the broker's store on a disk that survives a restart, and back up its config folder."),
    ),
    RepeatCauseWords(
        RepeatCause.OFFSET_FILE_CHANGED,
        _("offset file edited or restored"),
        _("Ask who wrote the broker's consumerOffset.json while it was down."),
        _("Move offsets by resets, never in the file."),
    ),
    RepeatCauseWords(
        RepeatCause.WRONG_ACK,
        _("sent back by the listener"),
        _("Find why the listener returned RECONSUME_LATER or null, or threw: its log has the exception."),
        _("Catch what cannot succeed later, record it, and return CONSUME_SUCCESS."),
    ),
    RepeatCauseWords(
        RepeatCause.BATCH_RECONSUME,
        _("batch sent back"),
        _("Find the message that failed: its whole batch was redelivered."),
        _("Set consumeMessageBatchMaxSize to 1, or set ackIndex up to where the batch succeeded."),
    ),
    RepeatCauseWords(
        RepeatCause.CONSUME_TIMEOUT,
        _("consumption timed out"),
        _("Find what held the listener for longer than consumeTimeout (15 min)."),
        _("Bound the time of one message, or raise consumeTimeout."),
    ),
    RepeatCauseWords(
        RepeatCause.BROADCAST_CRASH,
        _("broadcast consumer crashed"),
        _("Compare the client's offsets.json with its memory."),
        _("Stop members with shutdown(), and keep their offset folder."),
    ),
    RepeatCauseWords(
        RepeatCause.POP_REVIVE,
        _("invisible time ran out"),
        _("Compare the invisible time with the time that one message takes."),
        _("Raise the invisible time, or extend it while you work."),
    ),
    RepeatCauseWords(
        RepeatCause.SENT_TWICE,
        _("sent twice by the producer"),
        _("No repeated consumption: two messages with one key. Look at the producer's retries."),
        _("Make the listener idempotent by the business key."),
    ),
    RepeatCauseWords(
        RepeatCause.UNKNOWN,
        _("cause unknown"),
        _("Check the group's members and its offset stores at that time."),
        IDEMPOTENT,
    ),
)  # fmt: skip
CAUSES: Mapping[str, Text] = {one.cause: one.label for one in _WORDS}
ACTIONS: Mapping[str, Text] = {one.cause: one.action for one in _WORDS}
PREVENTIONS: Mapping[str, Text] = {one.cause: one.prevention for one in _WORDS}

SOURCES: Mapping[str, Text] = {
    RepeatSource.REBALANCES: _("rebalances"),
    RepeatSource.OFFSETS: _("offsets"),
    RepeatSource.RETRIES: _("retries"),
    RepeatSource.CLIENT_LOGS: _("client logs"),
    RepeatSource.SINGLE_MESSAGES: _("single messages"),
}

CONFIDENCE: Mapping[str, Text] = {
    Confidence.PROVEN: _("proven"),
    Confidence.LIKELY: _("likely"),
    Confidence.POSSIBLE: _("possible"),
}

EVIDENCE: Mapping[str, Text] = {
    RepeatEvidence.OWNER_LEFT: _("%(client_id)s left"),
    RepeatEvidence.OWNER_SILENT: _("%(client_id)s was dropped after 120 s without a heartbeat"),
    RepeatEvidence.OWNER_STAYED: _("%(client_id)s stayed, and released the queue"),
    RepeatEvidence.OWNER_UNKNOWN: _("the old owner was not sampled"),
    RepeatEvidence.MEMBERS_LOST: _("%(n_members)s left without reporting what they held"),
    RepeatEvidence.OWNER_RECONNECTED: _("%(client_id)s lost its connection, and reconnected"),
    RepeatEvidence.START_BEHIND_MEMORY: _(
        "the new owner started %(n_messages)s behind the old owner's memory: no final commit"
    ),
    RepeatEvidence.NO_GAP_SEEN: _("no gap was seen: only messages in flight can have been redelivered"),
    RepeatEvidence.ALL_RESTARTED: _("all members restarted (rollout)"),
    RepeatEvidence.TWO_OWNERS_SEEN: _("two owners for %(seconds_low)s–%(seconds_high)s s"),
    RepeatEvidence.SHARED_CLIENT_ID: _("two processes use %(client_id)s"),
    RepeatEvidence.HELD_OUT_OF_ORDER: _("up to %(finished)s of %(span)s held messages were finished already"),
    RepeatEvidence.HEAD_HELD: _("the first held message was unfinished for %(seconds)s s"),
    RepeatEvidence.OFFSET_FELL: _("offset %(from_offset)s → %(to_offset)s"),
    RepeatEvidence.RESET_WRITTEN: _("reset %(reset)s set the offset to %(target)s"),
    RepeatEvidence.BROKER_UNREAD: _("%(broker)s did not answer just before"),
    RepeatEvidence.READ_FROM_SLAVE: _("%(slave)s answered for %(broker)s"),
    RepeatEvidence.SLAVE_HELD: _("%(slave)s had offset %(offset)s"),
    RepeatEvidence.OFFSET_WAS_LOST: _("%(broker)s had no offset for a while"),
    RepeatEvidence.FILE_MODIFIED: _("the offset file was written at %(at)s, while the broker did not answer"),
    RepeatEvidence.FILE_OLDER: _("the offset file is an older one, of %(at)s"),
    RepeatEvidence.FILE_GONE: _("the offset file of %(broker)s was not there"),
    RepeatEvidence.FILE_HELD: _("%(broker)s began with offset %(offset)s of its file"),
    RepeatEvidence.RESUMED_BEHIND: _("%(client_id)s resumed at offset %(offset)s"),
    RepeatEvidence.MEMBER_RESTARTED: _("%(client_id)s started again"),
    RepeatEvidence.NO_MEMBER: _("the group had no member"),
    RepeatEvidence.SEVERAL_QUEUES: _("%(n_queues)s went back at once"),
    RepeatEvidence.MEMBERS_UNKNOWN: _("the group's members were not sampled"),
    RepeatEvidence.SENT_BACK: _("messages arrived in the retry topic"),
    RepeatEvidence.FAILURES_REPORTED: _("members report %(n_failures)s in the last hour"),
    RepeatEvidence.BATCH_SIZE: _("listeners get up to %(size)s messages in a batch"),
    RepeatEvidence.MEMBERS_POP: _("popped messages that were not acknowledged were redelivered"),
    RepeatEvidence.LOG_LINE: _("log at %(at)s: %(log)s (%(lines)s)"),
}

UNKNOWN: Mapping[str, Text] = {
    RepeatUnknown.OWNER_NOT_SAMPLED: _("the owners around the move were not sampled"),
    RepeatUnknown.OVERLAP_NOT_COUNTED: _("RocketMQ does not count what two owners both consume"),
    RepeatUnknown.MINUTE_UNKNOWN: _("no minute of it has data"),
    RepeatUnknown.NOT_READ_BEFORE: _("no poll before it is known"),
}


def repeat_cause_words(code: str) -> str:
    """A code that is not in the catalogue is said as it is: another version of the product may have stored it."""
    return str(CAUSES.get(code, code))


def repeat_action(code: str) -> str:
    return str(ACTIONS.get(code, ""))


def repeat_prevention(code: str) -> str:
    return str(PREVENTIONS.get(code, ""))


def confidence_words(code: str) -> str:
    return str(CONFIDENCE.get(code, code))


def evidence_words(entry: Mapping[str, Any]) -> str:
    text = EVIDENCE.get(entry["code"])
    if text is None:
        return str(entry["code"])
    try:
        return str(text) % {
            name: log_event_words(value) if name == "log" else _written(value)
            for name, value in with_counts(entry).items()
        }
    except KeyError:
        return str(entry["code"])


def repeat_unknown_words(code: str) -> str:
    return str(UNKNOWN.get(code, code))


def _written(value: Any) -> Any:
    """Offsets and counts with separators, seconds without a fraction, times as the reader's clock says them."""
    if isinstance(value, str):
        return with_plain_times(value)
    if isinstance(value, float):
        return f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value


# The attempts of one message in words: kinds of copies, what the group's offset says, how a delivery is known.
COPY_KINDS: Mapping[str, Text] = {
    CopyKind.ORIGINAL: _("original"),
    CopyKind.RETRY: _("retry"),
    CopyKind.DELAYED: _("waits for its retry"),
    CopyKind.DEAD_LETTER: _("dead letter"),
}
PROGRESS: Mapping[str, Text] = {
    AttemptProgress.CONSUMED: _("consumed"),
    AttemptProgress.WAITING: _("waiting"),
    AttemptProgress.FILTERED: _("filtered out by its tag"),
}
BASES: Mapping[str, Text] = {
    DeliveryBasis.SENT_BACK: _("sent back"),
    DeliveryBasis.COUNTED: _("counted by reconsume times, copy not found"),
    DeliveryBasis.COMMITTED: _("committed"),
    DeliveryBasis.REDELIVERED: _("before it was redelivered"),
}
DEAD = _("dead-lettered")

ATTEMPT_UNKNOWN: dict[str, Text] = {
    AttemptUnknown.BROADCASTING: _("members of a broadcasting group keep offsets of their own"),
    AttemptUnknown.POPPING: _("POP moves the offset when a message is handed out, not when it is acknowledged"),
    AttemptUnknown.OUTSIDE_STORE: _("the group keeps its offsets outside of the brokers"),
    AttemptUnknown.NEVER_COMMITTED: _("the group has not committed an offset for this queue"),
    AttemptUnknown.OFFSET_UNREAD: _("the group's offset could not be read: %(error)s"),
    AttemptUnknown.NOT_DELIVERED_FROM: _("the group does not consume from here"),
    AttemptUnknown.SQL_FILTER: _("the group filters by SQL: the offset does not say whether the message matched"),
    AttemptUnknown.NOT_CONSUMED_YET: _("not consumed yet"),
    AttemptUnknown.NOT_PASSED_IN_HISTORY: _("no poll until %(until)s saw the offset pass it"),
    AttemptUnknown.NO_HISTORY: _("the history could not be read: %(error)s"),
    AttemptUnknown.CLOCKS_DIFFER: _("the clocks of two machines differ"),
    AttemptUnknown.COPY_NOT_FOUND: _("its copy was not found: it expired, or the member retried on the spot"),
    AttemptUnknown.NO_DELAY: _("the broker did not report when it is due"),
    AttemptUnknown.NOT_DELAYED: _("it does not wait on a delay level"),
    AttemptUnknown.QUEUE_NEVER_SEEN: _("no poll has seen this queue"),
    AttemptUnknown.SEVERAL_MEMBERS: _("several members held the queue then"),
    AttemptUnknown.STILL_MEMBER: _("still a member when last polled"),
    AttemptUnknown.NO_REPEAT_COVERS: _("no known repeat covers it"),
    AttemptUnknown.DELIVERIES_NOT_STORED: _("brokers do not store deliveries: there may have been more"),
    AttemptUnknown.NOT_IN_MESSAGE: _("not in the message"),
    AttemptUnknown.BUDGET_USED: _("not searched: the look-up has used its %(n_calls)s"),
    AttemptUnknown.TIME_USED: _("not searched: the look-up took longer than %(seconds)s s"),
    AttemptUnknown.PLACE_UNREAD: _("not searched: %(error)s"),
    AttemptUnknown.MORE_THAN_SHOWN: _("the index returns %(most)s messages at most: there may be more"),
    AttemptUnknown.NO_MASTER: _("no master of %(broker)s is known"),
    AttemptUnknown.NO_KEY: _("the message has neither an ID of its producer nor a key to look for its copies"),
}


def kind_words(code: str) -> str:
    return str(COPY_KINDS.get(code, code))


def progress_words(code: str) -> str:
    return str(PROGRESS.get(code, code))


def basis_words(code: str) -> str:
    return str(BASES.get(code, code))
