"""Offset resets in words: plans and what became of them."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _

from consumers.vocabulary.resets import (
    ApplyReason,
    PlanReason,
    ResetAct,
    ResetWarning,
    RowReason,
)

from .marks import listed

# By the codes of ResetKind.
KINDS: dict[str, str | Promise] = {
    "earliest": _("earliest"),
    "latest": _("latest"),
    "time": _("time"),
    "offset": _("offset"),
    "shift": _("shift"),
    "skip_older": _("skip older"),
    "copy": _("copy"),
    "moment": _("moment"),
    "offsets": _("offsets"),
    "restore": _("restore"),
}

# By the codes of ResetStep.
STEPS: dict[str, str | Promise] = {
    "planned": _("planned"),
    "writing": _("writing"),
    "written": _("written"),
    "unanswered": _("unanswered"),
    "failed": _("failed"),
    "not done": _("not done"),
    "read back": _("read back"),
}


def outcome_counts(counts: Mapping[str, int]) -> str:
    """`2 CONFIRMED, 1 failed`. Codes of ResetOutcome stand as they are; of a queue without one it is its step."""
    template = gettext("%(queues)s %(outcome)s")
    named = ((f"{queues:,}", STEPS.get(name, name)) for name, queues in sorted(counts.items()))
    return listed(template % {"queues": queues, "outcome": name} for queues, name in named)


ROWS: dict[str, str | Promise] = {
    RowReason.NOT_WRITTEN_YET: _("not written yet"),
    RowReason.ENDED_BEFORE: _("the reset ended before this queue was written"),
    RowReason.AT_TARGET: _("already at its target"),
    RowReason.NO_COMMIT: _("no committed offset"),
    RowReason.UNREAD: _("it could not be read"),
    RowReason.TARGET_MESSAGE_UNREAD: _("the message at the target was not read"),
    RowReason.TAKES_PART: _("included in the reset"),
    RowReason.BEING_WRITTEN: _("not written, or being written now"),
    RowReason.NO_OFFSET_ANSWERED: _("the broker's answers contained no offset"),
    RowReason.NO_ERROR: _("no error"),
    RowReason.NOT_READ_BACK_YET: _("not read back yet"),
    RowReason.NOTHING_COMMITTED: _("no offset was ever committed"),
    RowReason.START_IS_MEMBERS: _("no offset was ever committed: its members choose where they start"),
    RowReason.AT_THE_END: _("end of the queue: no message yet"),
    RowReason.TARGET_MESSAGE_GONE: _("the broker has no message at this offset"),
    RowReason.TIME_NOT_IN_CALENDAR: _("the store time of the message is invalid"),
    RowReason.TIMES_LIMITED: _("messages are read for %(most)s queues only (RESET_MESSAGE_TIMES)"),
    RowReason.NO_TARGET_TIME: _("no message at a target was read"),
    RowReason.QUEUES_SILENT: _("unknown for %(silent)s of %(chosen)s queues: each queue has its reason"),
    RowReason.ALL_LEFT_OUT: _("all queues are excluded"),
    RowReason.NONE_CONFIRMED: _("no queue is confirmed"),
    RowReason.NO_COMMIT_BEFORE: _("%(without)s of %(confirmed)s confirmed queues had no committed offset before"),
    RowReason.PLAN_BEING_MADE: _("the plan is not ready yet"),
    RowReason.NO_PLAN: _("no plan"),
    RowReason.NOT_APPLIED: _("not applied"),
    RowReason.NOTHING_MOVED: _("no queue was found to have moved since the plan"),
    RowReason.MOVES_LOOKED_AT: _("the check for moves since the plan has not ended, or found none"),
    RowReason.ALL_TOPICS: _("all topics of the group, without its retry topic"),
    RowReason.ALL_BROKERS: _("all brokers"),
    RowReason.ALL_QUEUES: _("all queues of these topics and brokers"),
    RowReason.LISTED_QUEUES: _("the queues listed in the value"),
    RowReason.QUEUES_OF_THEN: _("the queues that the group had at that time"),
    RowReason.QUEUES_OF_OTHER: _("the queues that the other reset may have changed"),
    RowReason.NO_VALUE: _("this target needs no value"),
    RowReason.NOT_TAKEN_UP: _("no worker has started it yet"),
    RowReason.NOT_ENDED: _("it has not ended"),
    RowReason.UNDOES_NONE: _("not a rollback"),
    RowReason.NOTHING_TO_SAY: _("nothing beyond its status"),
    RowReason.LONG_LIST: _("a list of %(n_queues)s: open the reset to see them"),
    RowReason.MANY_QUEUES: _("%(n_queues)s: queues_url lists them page by page"),
    RowReason.GROUP_OFFLINE: _("the group had no member"),
    RowReason.NO_MEMBER_SAID: _("no member reported it"),
    RowReason.MEMBERS_UNSAID: _("not every broker listed its members"),
    RowReason.BROKER_UNSAID: _("the broker did not report it"),
    RowReason.BY_SYSTEM: _("done by the system"),
    RowReason.NO_ADDRESS: _("the request had no address"),
}

PLANS: dict[str, str | Promise] = {
    PlanReason.OUTSIDE_RANGE: _(
        "%(n)s of %(all)s targets are outside their queues. The farthest is %(wanted)s in %(queue)s, which has "
        "%(least)s to %(most)s. Choose another target, or clip targets to the nearer end."
    ),
    PlanReason.TOPIC_ON_NO_BROKER: _("No broker has the topic %(topic)s any more."),
    PlanReason.PLACES_UNREAD: _("Could not read the route of %(topic)s: %(error)s"),
    PlanReason.NO_ROUTE: _("Name servers list no queue of %(topic)s on %(broker)s: it is down, or lost the topic."),
    PlanReason.NO_QUEUE_THERE: _("%(broker)s has no queue of %(topic)s."),
    PlanReason.NO_SUCH_QUEUE_ID: _("%(broker)s has no queue %(queue_id)s of %(topic)s. Readable queues: %(n)s."),
    PlanReason.BROKER_WITHOUT_TOPICS: _("%(broker)s has no queue of the selected topics."),
    PlanReason.NO_QUEUE_TO_RESET: _("No queue to reset: select the topics."),
    PlanReason.TOO_MANY_QUEUES: _("%(n)s queues exceed RESET_QUEUES_MAX (%(most)s): select fewer topics or brokers."),
    PlanReason.QUEUE_UNREADABLE: _("Could not read the queue: %(error)s"),
    PlanReason.TIME_NOT_FOUND: _("Could not find the offset of that time: %(error)s"),
    PlanReason.ALL_AT_TARGET: _("Every selected queue is at its target already: there is nothing to move."),
    PlanReason.NOTHING_MOVABLE: _("No queue can be moved. %(why)s"),
    PlanReason.PLANNING_FAILED: _("Could not plan: %(error)s. Plan again."),
    PlanReason.GROUP_UNKNOWN: _("The group %(group)s no longer exists."),
    PlanReason.NOT_PLANNED_IN_TIME: _(
        "No worker started planning within a minute. Check that a Celery worker for the queue general runs, then "
        "plan again."
    ),
    PlanReason.NOTHING_TO_COUNT_FROM: _("The queue has no committed offset to shift from: choose another target."),
    PlanReason.NO_MASTER: _("its master is unknown: it is down, or only a slave is up"),
    PlanReason.NO_MASTERS: _("the cluster has no known master"),
    PlanReason.SETTING_NOT_BOOLEAN: _("its %(setting)s is not a boolean: %(value)s"),
    PlanReason.SETTING_NOT_NUMBER: _("its %(setting)s is not a number: %(value)s"),
    PlanReason.SETTING_MISSING: _("its %(setting)s is not set"),
    PlanReason.ENDS_MAKE_NO_SENSE: _("its min offset %(least)s and max offset %(most)s are inconsistent"),
    PlanReason.MEMBERS_NOT_TOLD: _(
        "The broker %(broker)s cannot move offsets: it can only send connected members a time, but %(reason)s. Stop"
        " the group and plan again: then the exact offset is committed."
    ),
    PlanReason.WITHOUT_COMMIT_REFUSED: _(
        "this queue has no committed offset, and the broker refuses unless each queue has one"
    ),
    PlanReason.TARGET_IS_OFFSET: _("this target is an offset, not a time"),
    PlanReason.CLIPPED_IS_OFFSET: _("a target that was clipped is an offset, not a time"),
    PlanReason.NOT_ALL_QUEUES: _(
        "that moves all queues of the topic on the broker, and not all of them are selected or movable"
    ),
    PlanReason.LANGUAGE_UNSURE: _("members written in %(languages)s may not understand it"),
    PlanReason.CLIENTS_UNKNOWN: _("the client versions of its members are unknown"),
    PlanReason.BROKER_UNKNOWN: _("The master of the broker %(broker)s is unknown: wait for the next poll."),
    PlanReason.TOLD_TOGETHER: _(
        "Members can only be notified of all queues of the topic on this broker at once, and queue %(queue)s cannot"
        " be moved: %(why)s"
    ),
    PlanReason.MODEL_UNKNOWN: _("The brokers do not report its message model: try again."),
    PlanReason.BROADCASTING: _(
        "Broadcasting group: each member keeps its offsets in a local file, which no broker can change. Stop the "
        "member, then edit or delete its offsets.json."
    ),
    PlanReason.OUTSIDE_STORE: _(
        "Its members keep offsets in an external store (%(store)s) and start from it, whatever the brokers have. "
        "Change the offsets in that store."
    ),
    PlanReason.MEMBERS_UNKNOWN: _(
        "Its members are unknown (%(why)s), and the reset method depends on them. Try again."
    ),
    PlanReason.BROKER_SILENT: _("a broker did not answer"),
    PlanReason.BROKER_UNASKABLE: _("Could not reach the broker %(broker)s: %(error)s"),
    PlanReason.WRITABLE_UNKNOWN: _("The broker %(broker)s does not report its write permission: try again."),
    PlanReason.READ_ONLY: _(
        "The broker %(broker)s is read-only (brokerPermission=%(permission)s). Set it to 6, or wait until its "
        "maintenance ends."
    ),
    PlanReason.SERVER_SIDE_UNKNOWN: _("The broker %(broker)s does not report useServerSideResetOffset: try again."),
    PlanReason.CONSUME_TYPE_UNKNOWN: _(
        "The brokers do not report its consume type: try again, or stop the group first."
    ),
    PlanReason.MEMBERS_PULL: _(
        "Its members pull by themselves (%(type)s): each continues from its own position and overwrites the "
        "committed offset. Stop the group first, or use seek in its program."
    ),
    PlanReason.POP_UNKNOWN: _(
        "Whether the group consumes this topic by POP is unknown, and the broker %(broker)s cannot move offsets. "
        "Try again, or set its useServerSideResetOffset to true."
    ),
    PlanReason.POPPED: _(
        "The group consumes this topic by POP, and the broker %(broker)s cannot move offsets. Set its "
        "useServerSideResetOffset to true first (RocketMQ 5.1.0 or later)."
    ),
    PlanReason.COPY_NO_GROUP: _("%(cluster)s has no group %(group)s: choose one from the list."),
    PlanReason.COPY_BROADCASTING: _(
        "%(group)s is broadcasting: its members keep offsets in local files, so there is nothing to copy. Upload "
        "the offsets as CSV instead."
    ),
    PlanReason.COPY_OUTSIDE_STORE: _(
        "%(group)s keeps its offsets in an external store (%(store)s), so there is nothing to copy. Upload the "
        "offsets as CSV instead."
    ),
    PlanReason.COPY_NO_MASTER: _("The master of its broker is unknown: it is down, or only a slave is up."),
    PlanReason.COPY_UNREAD: _("Could not read the offset of %(group)s: %(error)s"),
    PlanReason.COPY_NO_COMMIT: _("%(group)s has no committed offset there."),
    PlanReason.NOT_LISTED: _("The list has no offset for this queue."),
    PlanReason.NOT_CHANGED: _("The reset that is rolled back did not change this queue."),
    PlanReason.NO_COMMIT_TO_RESTORE: _("The queue had no committed offset before, and RocketMQ cannot delete one."),
    PlanReason.STAYED: _("The read-back found the queue where it was: the reset did not move it."),
    PlanReason.NOTHING_TO_RESTORE: _("The reset changed no queue: there is nothing to roll back."),
    PlanReason.NO_OFFSET_THEN: _("No offset at %(at)s: %(why)s"),
    PlanReason.UNKNOWN_THEN: _("%(unknown_reason)s."),
    PlanReason.NOT_READ_THEN: _("it was not read."),
    PlanReason.COMMIT_DENIED: _("the commit was gone; it was %(offset)s until %(at)s: choose that time."),
    PlanReason.REMADE: _(
        "Its broker offset fell from %(before)s to %(after)s before %(at)s, as after a topic is re-created: earlier"
        " offsets refer to messages that are gone. Upload the offset as CSV if you know it."
    ),
    PlanReason.TOPIC_RECREATED: _(
        "The topic was deleted and re-created before %(at)s: earlier offsets refer to messages that are gone. Upload"
        " the offset as CSV if you know it."
    ),
    PlanReason.NO_READING_THEN: _(
        "No poll of %(cluster)s is stored for the %(minutes)s minutes up to %(at)s. Choose another point in time."
    ),
    PlanReason.GROUP_NOT_SEEN_THEN: _(
        "No poll in the %(minutes)s minutes up to %(at)s found offsets of %(group)s. Choose another point in time."
    ),
    PlanReason.QUEUE_NOT_SEEN_THEN: _("No poll shortly before %(at)s found an offset of the group in this queue."),
    PlanReason.HISTORY_UNREADABLE: _("Could not read the history store (%(error)s). Check it, then plan again."),
    PlanReason.HISTORY_DAMAGED: _(
        "Could not read the history: files of that time are damaged and were moved to %(place)s (%(n_files)s). Choose "
        "another point in time, or upload the offsets as CSV."
    ),
}

WARNINGS: dict[str, str | Promise] = {
    ResetWarning.REDELIVERED: _(
        "Redelivered messages: %(n)s, queues: %(queues)s. Make sure that consumers handle duplicates."
    ),
    ResetWarning.REDELIVERED_FROM: _("The first redelivered message that was read is from %(at)s."),
    ResetWarning.SKIPPED: _(
        "Skipped messages: %(n)s, queues: %(queues)s. The group does not consume them unless it is reset again."
    ),
    ResetWarning.UNCOUNTED: _(
        "Queues with unknown numbers of redelivered and skipped messages: %(queues)s. They have no committed offset."
    ),
    ResetWarning.NOT_RESTORABLE: _(
        "Queues that cannot be rolled back: %(queues)s. They have no committed offset, and RocketMQ cannot delete one."
    ),
    ResetWarning.CLIPPED: _("Targets clipped to the range of their queues: %(queues)s."),
    ResetWarning.LEFT_OUT: _("Excluded queues: %(n)s. %(why)s"),
    ResetWarning.LEFT_OUT_OTHERS: _("Queues excluded for other reasons: %(queues)s. See the table."),
    ResetWarning.NEAREST_MESSAGES: _(
        "Queues that start at a message before that time: %(n)s, by up to %(by)s. Brokers return the nearest message."
    ),
    ResetWarning.GROUP_STRANGE: _(
        "%(broker)s did not know the group at the last poll, and does not move offsets of unknown groups."
    ),
    ResetWarning.RETRIES_STAY: _("Messages in retry topics (%(topics)s) are not affected."),
    ResetWarning.RESENDS_RUN: _("Dead-letter messages are being resent to this group: they are delivered in addition."),
    ResetWarning.COMMITTED_AS_MEMBER: _(
        "Offsets are committed as a member would commit them. Do not start a member before the reset ends: it would"
        " overwrite them."
    ),
    ResetWarning.ORDERLY_WAITS: _(
        "The group consumes in order: a member continues at the target only after its current message is finished."
    ),
    ResetWarning.MOVED_FOR_LATER: _("Offsets are moved immediately; members that start later begin at the targets."),
    ResetWarning.MOVED_AT_ONCE: _(
        "Offsets are moved immediately. The owner of a queue drops its cached messages at its next pull and "
        "continues at the target: within 20 seconds if it is waiting for messages, later if its cache is full. Its "
        "commits are ignored until then."
    ),
    ResetWarning.WORK_REPEATED: _(
        "Messages being consumed at that time are finished but not committed: those at or after the target are "
        "consumed again."
    ),
    ResetWarning.OLD_MEMBERS_LATE: _(
        "Members older than RocketMQ 5.2 need 10 more seconds and commit their old offset once before they continue"
        " at the target."
    ),
    ResetWarning.LANGUAGES_DECIDE: _(
        "Members written in %(languages)s decide themselves when to follow a moved offset: the read-back shows it."
    ),
    ResetWarning.MAYBE_POPS: _(
        "If the group consumes by POP, unacknowledged messages are redelivered whatever the target."
    ),
    ResetWarning.POPS_AGAIN: _("Unacknowledged popped messages of %(topics)s are redelivered whatever the target."),
    ResetWarning.MEMBERS_TOLD: _(
        "Members are notified and do not reply. For each topic that is reset, each member stops consuming all its "
        "topics for about 10 seconds, drops its cached messages and continues at the offset it received."
    ),
    ResetWarning.BROKER_COUNTS: _(
        "The broker looks the offsets up by time when the reset is applied: messages that arrive or expire after "
        "the plan change the result."
    ),
    ResetWarning.WHOLE_TOPIC_MOVES: _("All queues of the topic on that broker are moved, forwards and backwards."),
    ResetWarning.COPY_AT_PLAN: _(
        "The offsets of %(group)s are from the time of the plan; it may move on before the reset."
    ),
    ResetWarning.COPY_POPS: _("%(group)s consumes by POP: messages that it has not acknowledged are skipped."),
    ResetWarning.LATE_READINGS: _(
        "Queues not polled right before %(at)s: %(n)s. Their targets are offsets from up to %(age)s earlier "
        "(%(queue)s at %(oldest)s). Messages consumed in between are redelivered."
    ),
    ResetWarning.REMADE_UNKNOWN: _(
        "Whether a topic was re-created since then is unknown: broker offsets are not evaluated up to now. Check "
        "that the pipeline runs. If a topic was re-created, its old offsets refer to other messages."
    ),
}

APPLIED: dict[str, str | Promise] = {
    ApplyReason.GROUP_GONE: _("the group no longer exists."),
    ApplyReason.ACCOUNT_GONE: _("the account of %(user)s, who applied it, no longer exists. Plan again."),
    ApplyReason.PERMISSION_LOST: _(
        "%(user)s, who applied it, no longer has the permission %(permission)s for the cluster %(cluster)s. Somebody "
        "who has it can plan again."
    ),
    ApplyReason.TOO_LATE: _(
        "no worker was on it for more than %(minutes)s minutes, and the group may have moved on since. Plan again."
    ),
    ApplyReason.NOT_TAKEN_UP_IN_TIME: _(
        "No worker started it within 5 minutes. Check that a Celery worker for the queue general runs, then plan again."
    ),
    ApplyReason.STOPPED: _("Stopped: %(why)s"),
    ApplyReason.MOVED: _("Stopped: the group or its queues moved since the plan, so the plan no longer matches."),
    ApplyReason.CONNECTIONS_LOST: _("Its connections were lost: %(error)s."),
    ApplyReason.CLUSTER_GONE: _("The cluster %(cluster)s is no longer registered."),
    ApplyReason.CLUSTER_CHANGED: _(
        "The name servers of %(cluster)s were changed meanwhile: it may be another cluster."
    ),
    ApplyReason.GAVE_UP: _("Stopped: every worker that tried it in the last hour failed. See the workers' logs."),
    ApplyReason.CANCELLED_BY: _("Cancelled by %(user)s before any broker was changed."),
    ApplyReason.SOME_NOT_CONFIRMED: _("some queues were not confirmed"),
    ApplyReason.NOT_CONFIRMED: _("%(others)s of %(all_queues)s not confirmed: %(queue_outcomes)s."),
    ApplyReason.IN_DOUBT: _("the worker stopped during the call to the broker: the read-back shows the outcome"),
    ApplyReason.SEE_MOVED: _("not tried: see what moved"),
    ApplyReason.ANSWER_WITHOUT_QUEUE: _("the broker's answer does not name this queue"),
    ApplyReason.MAYBE_MOVED: _("possibly moved: %(error)s"),
    ApplyReason.BEFORE_UNREAD: _("not written: its present offset could not be read: %(error)s"),
    ApplyReason.LEFT_ALONE: _("not written: %(why)s"),
    ApplyReason.OTHER_LEFT_ALONE: _("members can only be notified of all queues at once. Another queue: %(why)s"),
    ApplyReason.NO_BROKER_ADDRESS: _("the address of %(broker)s is unknown"),
    ApplyReason.BROKER_GAVE_UP: _("%(broker)s gave no usable answer %(times)s times in a row: %(error)s"),
    ApplyReason.NOT_TRIED: _("not tried: %(why)s"),
    ApplyReason.MORE_MOVED: _("And %(n)s more."),
    ApplyReason.COMMITTED_SINCE: _("it had no committed offset in the plan, and is at %(offset)s now"),
    ApplyReason.COMMIT_GONE: _("it was at %(then)s in the plan, and has no committed offset now"),
    ApplyReason.WENT_BACK: _("it went back from %(then)s to %(offset)s"),
    ApplyReason.WENT_PAST: _("it moved from %(then)s to %(offset)s, past its target %(target)s"),
    ApplyReason.WENT_ON: _("it moved from %(then)s to %(offset)s, by more than %(tolerance)s messages"),
    ApplyReason.MEMBERS_NOW_UNKNOWN: _("The members of the group could not be read: %(error)s."),
    ApplyReason.MEMBERS_THEN_UNKNOWN: _("The members of the group at the time of the plan are unknown."),
    ApplyReason.CAME_ONLINE: _("The group was offline at the time of the plan, and is online now."),
    ApplyReason.WENT_OFFLINE: _("The group was online at the time of the plan, and is offline now."),
    ApplyReason.MEMBERS_JOINED: _("Members changed: %(joined)s joined."),
    ApplyReason.MEMBERS_LEFT: _("Members changed: %(left)s left."),
    ApplyReason.MEMBERS_CHANGED: _("Members changed: %(joined)s joined; %(left)s left."),
    ApplyReason.AND_MORE: _("%(first)s and %(n)s more"),
    ApplyReason.MODEL_CHANGED: _("The message model of the group changed from %(then)s to %(now)s since the plan."),
    ApplyReason.CONSUME_TYPE_CHANGED: _(
        "The consume type of the group changed from %(then)s to %(now)s since the plan."
    ),
    ApplyReason.MASTER_CHANGED: _("The master of %(broker)s changed from %(then)s to %(now)s since the plan."),
    ApplyReason.PERMISSION_CHANGED: _("The permission of %(broker)s changed from %(then)s to %(now)s since the plan."),
    ApplyReason.SERVER_SIDE_CHANGED: _(
        "useServerSideResetOffset of %(broker)s changed from %(then)s to %(now)s since the plan."
    ),
    ApplyReason.BROKER_NOT_READ: _("Could not read %(broker)s: %(error)s."),
    ApplyReason.NOT_ASKED: _("it was not asked"),
    ApplyReason.QUEUE_MOVED: _("%(topic)s, %(broker)s, queue %(queue_id)s: %(why)s."),
    ApplyReason.NOT_READ_NOW: _("it was not read"),
    ApplyReason.NOT_READABLE: _("it could not be read: %(error)s"),
    ApplyReason.ENDS_UNKNOWN: _("its min and max offset are unknown"),
    ApplyReason.END_WENT_BACK: _("its broker offset fell from %(then)s to %(now)s since the plan"),
    ApplyReason.PLAN_WITHOUT_TARGET: _("the plan has no target for it"),
    ApplyReason.TARGET_PAST_END: _("its target %(target)s is after its end, %(end)s"),
    ApplyReason.TARGET_EXPIRED: _("its target %(target)s has expired: its min offset is %(start)s"),
}

ACTS: dict[str, str | Promise] = {
    ResetAct.REQUESTED: _("Requested a plan: %(target_kind)s."),
    ResetAct.PLANNED: _("Planned: %(planned_queues)s."),
    ResetAct.PLAN_EXPIRED: _("The plan expired."),
    ResetAct.APPLIED: _("Applied the plan."),
    ResetAct.RESUMED: _("Resumed: %(left_queues)s. It had ended early: %(why)s"),
    ResetAct.CANCELLED_PLAN: _("Cancelled the plan."),
    ResetAct.CANCELLED_EARLY: _("Cancelled before any broker was changed."),
    ResetAct.BEGAN: _("A worker started to apply it."),
    ResetAct.TOOK_OVER: _("Another worker took over from one that had stopped."),
    ResetAct.RECONNECTED: _("Reconnected after its connections were closed."),
    ResetAct.ENDED: _("Ended: %(queue_outcomes)s."),
    ResetAct.ENDED_WITHOUT_QUEUES: _("Ended: no queue to move."),
}

ALL = (ROWS, PLANS, WARNINGS, APPLIED, ACTS)
