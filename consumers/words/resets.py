"""Offset resets in words: plans and what became of them."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.resets import (
    ApplyReason,
    PlanReason,
    ReadBackEvidence,
    ResetAct,
    ResetWarning,
    RowReason,
)

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

ROWS: dict[str, str | Promise] = {
    RowReason.NOT_WRITTEN_YET: _("nothing was written to it yet"),
    RowReason.ENDED_BEFORE: _("the reset ended before its turn"),
    RowReason.AT_TARGET: _("it stands at its target already: nothing is written to it"),
    RowReason.NO_COMMIT: _("nothing was committed there"),
    RowReason.UNREAD: _("it could not be read"),
    RowReason.TARGET_MESSAGE_UNREAD: _("the message there was not read"),
    RowReason.TAKES_PART: _("it is part of the reset"),
    RowReason.BEING_WRITTEN: _("it is being written, or was not"),
    RowReason.NO_OFFSET_ANSWERED: _("no answer of the broker named an offset"),
    RowReason.NO_ERROR: _("no error"),
    RowReason.NOT_READ_BACK_YET: _("it was not read back yet"),
    RowReason.NOTHING_COMMITTED: _("nothing was ever committed there"),
    RowReason.START_IS_MEMBERS: _("nothing was ever committed there: its members choose where they start"),
    RowReason.AT_THE_END: _("nothing is stored there yet"),
    RowReason.TARGET_MESSAGE_GONE: _("the broker has no message there"),
    RowReason.TIME_NOT_IN_CALENDAR: _("the message there bears no time that a calendar has"),
    RowReason.TIMES_LIMITED: _("only of %(most)s queues the message is read (RESET_MESSAGE_TIMES)"),
    RowReason.NO_TARGET_TIME: _("the time of no message at a target was read"),
    RowReason.QUEUES_SILENT: _("%(silent)s of %(chosen)s queues do not say how many: each says why"),
    RowReason.ALL_LEFT_OUT: _("all queues are left out"),
    RowReason.NONE_CONFIRMED: _("no queue that was to move is confirmed"),
    RowReason.NO_COMMIT_BEFORE: _("%(without)s of %(confirmed)s confirmed queues had no commit before"),
    RowReason.PLAN_BEING_MADE: _("the plan is being made"),
    RowReason.NO_PLAN: _("there was no plan"),
    RowReason.NOT_APPLIED: _("it was not applied"),
    RowReason.NOTHING_MOVED: _("nothing was found that had moved since the plan"),
    RowReason.MOVES_LOOKED_AT: _("what has moved since the plan is being looked at, or nothing had"),
    RowReason.ALL_TOPICS: _("all topics of the group, without its retry topic"),
    RowReason.ALL_BROKERS: _("all brokers"),
    RowReason.ALL_QUEUES: _("all queues of these topics and brokers"),
    RowReason.LISTED_QUEUES: _("those that the value lists"),
    RowReason.QUEUES_OF_THEN: _("those that the group had then"),
    RowReason.QUEUES_OF_OTHER: _("those that the other reset may have changed"),
    RowReason.NO_VALUE: _("this kind of target needs none"),
    RowReason.NOT_TAKEN_UP: _("no worker has taken it up"),
    RowReason.NOT_ENDED: _("it has not ended"),
    RowReason.UNDOES_NONE: _("it undoes no other reset"),
    RowReason.NOTHING_TO_SAY: _("there is nothing to say beyond its status"),
    RowReason.LONG_LIST: _("a list of %(queues)s queues: they stand in the reset itself"),
    RowReason.MANY_QUEUES: _("there are %(queues)s: queues_url has them in pages"),
    RowReason.GROUP_OFFLINE: _("the group had no member"),
    RowReason.NO_MEMBER_SAID: _("no member said it"),
    RowReason.MEMBERS_UNSAID: _("not every broker said who its members are"),
    RowReason.BROKER_UNSAID: _("the broker did not say it"),
    RowReason.BY_SYSTEM: _("a worker did it by itself"),
    RowReason.NO_ADDRESS: _("the request did not say where it came from"),
}

PLANS: dict[str, str | Promise] = {
    PlanReason.OUTSIDE_RANGE: _(
        "Targets outside of what their queues hold: %(n)s of %(all)s. The farthest is %(wanted)s of %(queue)s, "
        "which holds %(least)s to %(most)s. Choose another target, or let targets be clipped to the nearer end."
    ),
    PlanReason.TOPIC_ON_NO_BROKER: _("The topic %(topic)s is on no broker any more."),
    PlanReason.PLACES_UNREAD: _("Where the queues of %(topic)s are could not be read: %(error)s"),
    PlanReason.NO_ROUTE: _("Name servers list no queue of %(topic)s on %(broker)s: it is down, or lost the topic."),
    PlanReason.NO_QUEUE_THERE: _("There is no queue of %(topic)s on %(broker)s."),
    PlanReason.NO_SUCH_QUEUE_ID: _("There is no queue %(queue_id)s of %(topic)s on %(broker)s: it has %(n)s to read."),
    PlanReason.BROKER_WITHOUT_TOPICS: _("There is no queue of the chosen topics on %(broker)s."),
    PlanReason.NO_QUEUE_TO_RESET: _("There is no queue to reset: choose the topics."),
    PlanReason.TOO_MANY_QUEUES: _("%(n)s queues exceed RESET_QUEUES_MAX (%(most)s): choose topics or brokers."),
    PlanReason.QUEUE_UNREADABLE: _("The queue cannot be read: %(error)s"),
    PlanReason.TIME_NOT_FOUND: _("The offset of that time could not be found: %(error)s"),
    PlanReason.ALL_AT_TARGET: _("Every chosen queue stands at its target already: nothing is to be moved."),
    PlanReason.NOTHING_MOVABLE: _("No queue can be moved. %(why)s"),
    PlanReason.PLANNING_FAILED: _("Could not plan: %(error)s. Plan again."),
    PlanReason.GROUP_UNKNOWN: _("The group %(group)s is not known any more."),
    PlanReason.NOT_PLANNED_IN_TIME: _(
        "No worker took it up within a minute: see that a Celery worker for the queue general runs, and plan again."
    ),
    PlanReason.NOTHING_TO_COUNT_FROM: _("Nothing was ever committed there to count from: choose another target."),
    PlanReason.NO_MASTER: _("no master of it is known: it is down, or only its slave is up"),
    PlanReason.NO_MASTERS: _("no master of the cluster is known"),
    PlanReason.SETTING_NOT_BOOLEAN: _("its %(setting)s is neither true nor false: %(value)s"),
    PlanReason.SETTING_NOT_NUMBER: _("its %(setting)s is not a number: %(value)s"),
    PlanReason.SETTING_MISSING: _("its %(setting)s is not a number: it has none"),
    PlanReason.ENDS_MAKE_NO_SENSE: _("its ends, %(least)s and %(most)s, make no sense"),
    PlanReason.MEMBERS_NOT_TOLD: _(
        "The broker %(broker)s does not move offsets itself and only tells connected members a time; %(reason)s. Stop "
        "the group and plan anew: then the offset is committed exactly."
    ),
    PlanReason.WITHOUT_COMMIT_REFUSED: _("this queue has no commit yet, and without one of each queue it refuses"),
    PlanReason.TARGET_IS_OFFSET: _("this target is an offset, not a time"),
    PlanReason.CLIPPED_IS_OFFSET: _("a target that was clipped is an offset, not a time"),
    PlanReason.NOT_ALL_QUEUES: _("that moves all queues of the topic there, and not all of them were chosen or can be"),
    PlanReason.LANGUAGE_UNSURE: _("members written in %(languages)s may not understand it"),
    PlanReason.CLIENTS_UNKNOWN: _("it is not known which clients its members use"),
    PlanReason.BROKER_UNKNOWN: _("No master of the broker %(broker)s is known: wait for the next reading."),
    PlanReason.TOLD_TOGETHER: _(
        "Members are told all queues of the topic at this broker at once, and queue %(queue)s cannot be: %(why)s"
    ),
    PlanReason.MODEL_UNKNOWN: _("The brokers do not report its message model: try again."),
    PlanReason.BROADCASTING: _(
        "It is a broadcasting group: each member keeps offsets of its own in a file beside it, and no broker "
        "can move them. Stop the member and edit or delete its offsets.json."
    ),
    PlanReason.OUTSIDE_STORE: _(
        "Its members keep their offsets in a store of their own (%(store)s), and start from there whatever the "
        "brokers hold: move them there."
    ),
    PlanReason.MEMBERS_UNKNOWN: _("Its members are unknown (%(why)s), and the method depends on them: try again."),
    PlanReason.BROKER_SILENT: _("a broker did not answer"),
    PlanReason.BROKER_UNASKABLE: _("The broker %(broker)s cannot be asked: %(error)s"),
    PlanReason.WRITABLE_UNKNOWN: _("The broker %(broker)s does not say whether it may be written to: try again."),
    PlanReason.READ_ONLY: _(
        "The broker %(broker)s is set to read-only (brokerPermission=%(permission)s): set it to 6 first, or wait "
        "until whoever did so is done."
    ),
    PlanReason.SERVER_SIDE_UNKNOWN: _("The broker %(broker)s does not say whether it moves offsets itself: try again."),
    PlanReason.CONSUME_TYPE_UNKNOWN: _(
        "The brokers do not report its consume type: try again, or stop the group first."
    ),
    PlanReason.MEMBERS_PULL: _(
        "Its members pull by themselves (%(type)s), so that each goes on from its own position and commits that over "
        "any other: stop the group first, or let its program seek."
    ),
    PlanReason.POP_UNKNOWN: _(
        "It is not known whether the group pops this topic, and the broker %(broker)s does not move offsets itself: "
        "try again, or set its useServerSideResetOffset to true."
    ),
    PlanReason.POPPED: _(
        "The group pops this topic, and the broker %(broker)s does not move offsets itself: set its "
        "useServerSideResetOffset to true first (possible from RocketMQ 5.1.0)."
    ),
    PlanReason.COPY_NO_GROUP: _("There is no group %(group)s in %(cluster)s: choose one that is listed."),
    PlanReason.COPY_BROADCASTING: _(
        "%(group)s is broadcasting: each of its members goes on from its own file, so that there is no offset to "
        "copy. Give the offsets yourself."
    ),
    PlanReason.COPY_OUTSIDE_STORE: _(
        "%(group)s keeps its offsets outside of RocketMQ (%(store)s), so that there is none to copy. Give the "
        "offsets yourself."
    ),
    PlanReason.COPY_NO_MASTER: _("No master of its broker is known: it is down, or only its slave is up."),
    PlanReason.COPY_UNREAD: _("Where %(group)s stands could not be read: %(error)s"),
    PlanReason.COPY_NO_COMMIT: _("%(group)s has committed nothing there."),
    PlanReason.NOT_LISTED: _("The list has no offset for it."),
    PlanReason.NOT_CHANGED: _("The reset to be restored did not change it."),
    PlanReason.NO_COMMIT_TO_RESTORE: _("It had no commit before: no call of RocketMQ takes an offset away."),
    PlanReason.STAYED: _("It was read back where it was: the reset did not move it."),
    PlanReason.NOTHING_TO_RESTORE: _("The reset to be restored changed no queue: there is nothing to return to."),
    PlanReason.NO_OFFSET_THEN: _("It had no offset at %(at)s: %(why)s"),
    PlanReason.UNKNOWN_THEN: _("%(unknown_reason)s."),
    PlanReason.NOT_READ_THEN: _("it was not read."),
    PlanReason.COMMIT_DENIED: _("the commit was gone; it was %(offset)s until %(at)s: choose that time."),
    PlanReason.REMADE: _(
        "Its broker offset went from %(before)s back to %(after)s by %(at)s, as where a topic is made anew: what "
        "its offsets named before is gone. Give the offset itself if you know better."
    ),
    PlanReason.NO_READING_THEN: _(
        "No reading of %(cluster)s is kept that was taken in the %(minutes)s minutes up to %(at)s: choose "
        "another moment."
    ),
    PlanReason.GROUP_NOT_SEEN_THEN: _(
        "No reading that was taken in the %(minutes)s minutes up to %(at)s saw offsets of %(group)s: choose "
        "another moment."
    ),
    PlanReason.QUEUE_NOT_SEEN_THEN: _("No reading from shortly before %(at)s saw an offset of the group there."),
    PlanReason.HISTORY_UNREADABLE: _("The history could not be read (%(error)s): check the lake, and plan again."),
    PlanReason.HISTORY_DAMAGED: _(
        "The history could not be read: %(n)s of its files of that time are damaged and were put aside "
        "(%(place)s). Choose another moment, or give the offsets yourself."
    ),
}

WARNINGS: dict[str, str | Promise] = {
    ResetWarning.REDELIVERED: _(
        "Messages that are consumed once more: %(n)s, queues: %(queues)s. What the consumers do with them must "
        "bear to be done twice."
    ),
    ResetWarning.REDELIVERED_FROM: _("The first redelivered message is from %(at)s UTC, as far as messages were read."),
    ResetWarning.SKIPPED: _(
        "Messages that are skipped: %(n)s, queues: %(queues)s. They are lost to this group until it is set back."
    ),
    ResetWarning.UNCOUNTED: _(
        "Queues of which nobody can tell what is replayed or skipped: %(queues)s. Nothing was ever committed there."
    ),
    ResetWarning.NOT_RESTORABLE: _(
        "Queues that cannot be restored: %(queues)s. They had no commit, and no call of RocketMQ takes an offset away."
    ),
    ResetWarning.CLIPPED: _("Targets that are clipped to what their queues hold: %(queues)s."),
    ResetWarning.LEFT_OUT: _("Queues that are left out: %(n)s. %(why)s"),
    ResetWarning.LEFT_OUT_OTHERS: _("Queues that are left out for other reasons: %(queues)s. The table says why."),
    ResetWarning.NEAREST_MESSAGES: _(
        "Queues that begin at a message from before that time: %(n)s, by up to %(by)s. Brokers name the nearest."
    ),
    ResetWarning.GROUP_STRANGE: _(
        "%(broker)s did not know the group when it was last read, and moves no offset of a group that it does not know."
    ),
    ResetWarning.RETRIES_STAY: _("Messages in retry (%(topics)s) are not touched: they are delivered as before."),
    ResetWarning.RESENDS_RUN: _("Dead-letter messages are being resent to this group: they come on top."),
    ResetWarning.COMMITTED_AS_MEMBER: _(
        "The offsets are committed as a member would: no member may start before the reset is done, or it "
        "commits its own offsets over them."
    ),
    ResetWarning.ORDERLY_WAITS: _(
        "The group consumes in order: a member goes on from the target only when the message that it is "
        "working on has returned."
    ),
    ResetWarning.MOVED_FOR_LATER: _("The offsets are moved at once; members that start later begin at the targets."),
    ResetWarning.MOVED_AT_ONCE: _(
        "The offsets are moved at once. The member that owns a queue drops what it has fetched at its next pull "
        "and goes on from the target: within 20 seconds where it waits for messages, later where it has fetched "
        "as much as it may hold. What it commits until then is ignored."
    ),
    ResetWarning.WORK_REPEATED: _(
        "What a member is working on at that moment is finished but not committed: it is consumed again if it lies "
        "at the target or beyond."
    ),
    ResetWarning.OLD_MEMBERS_LATE: _(
        "Members older than RocketMQ 5.2 take 10 seconds more, commit their old offset meanwhile, and only then "
        "go on from the target."
    ),
    ResetWarning.LANGUAGES_DECIDE: _(
        "Members written in %(languages)s decide themselves when they follow a moved offset: reading back tells."
    ),
    ResetWarning.MAYBE_POPS: _("If the group pops, unacknowledged messages are redelivered whatever the target."),
    ResetWarning.POPS_AGAIN: _("Unacknowledged popped messages of %(topics)s are redelivered whatever the target."),
    ResetWarning.MEMBERS_TOLD: _(
        "Members are told without an answer. Each stops consuming for about 10 seconds for every topic that is "
        "reset, with all its topics, drops what it has fetched and goes on from the offset that it was told."
    ),
    ResetWarning.BROKER_COUNTS: _(
        "The broker works the offsets out when it is told, from the time: messages that arrive or expire between "
        "plan and reset are counted in."
    ),
    ResetWarning.WHOLE_TOPIC_MOVES: _("All queues of the topic at that broker are moved, forwards as well as back."),
    ResetWarning.COPY_AT_PLAN: _("The offsets of %(group)s are those of the plan; it may move on meanwhile."),
    ResetWarning.COPY_POPS: _("%(group)s pops: messages that it has not acknowledged are skipped."),
    ResetWarning.LATE_READINGS: _(
        "%(n)s of the queues were not read right before %(at)s: their targets are where they stood up to "
        "%(age)s earlier (%(queue)s at %(oldest)s). What was consumed in between comes again."
    ),
    ResetWarning.REMADE_UNKNOWN: _(
        "Whether a topic was made anew since then is not known, as broker offsets were not aggregated until "
        "now: see that the pipeline runs. Where one was, its offsets of then name other messages."
    ),
}

APPLIED: dict[str, str | Promise] = {
    ApplyReason.GROUP_GONE: _("the group is not known any more."),
    ApplyReason.ACCOUNT_GONE: _("the account of %(user)s, who let it be applied, is gone. Plan anew."),
    ApplyReason.PERMISSION_LOST: _(
        "%(user)s, who let it be applied, has lost the permission %(permission)s. Somebody who has it can plan anew."
    ),
    ApplyReason.TOO_LATE: _(
        "no worker was on it for more than %(minutes)s minutes, and the group may have moved on since. Plan anew."
    ),
    ApplyReason.NOT_TAKEN_UP_IN_TIME: _(
        "No worker took it up within 5 minutes: see that a Celery worker for the queue general runs, and plan anew."
    ),
    ApplyReason.STOPPED: _("Stopped: %(why)s"),
    ApplyReason.MOVED: _(
        "Stopped: the group or its queues have moved since the plan, so that it would do something else than it says."
    ),
    ApplyReason.CONNECTIONS_LOST: _("Its connections were lost: %(error)s."),
    ApplyReason.CLUSTER_GONE: _("The cluster %(cluster)s is not registered any more."),
    ApplyReason.CLUSTER_CHANGED: _(
        "The cluster %(cluster)s was registered with other name servers meanwhile: whether it is the same cluster is "
        "not known."
    ),
    ApplyReason.GAVE_UP: _("Stopped: for an hour every worker that took it up has failed at it; their logs say why."),
    ApplyReason.CANCELLED_BY: _("Cancelled by %(user)s before a broker was told."),
    ApplyReason.SOME_NOT_CONFIRMED: _("some queues were not confirmed"),
    ApplyReason.NOT_CONFIRMED: _("%(others)s of %(all)s queues are not confirmed: %(counts)s."),
    ApplyReason.IN_DOUBT: _("its worker stopped during the call to the broker: the read-back shows the outcome"),
    ApplyReason.SEE_MOVED: _("it was not tried: see what moved"),
    ApplyReason.ANSWER_WITHOUT_QUEUE: _("the broker's answer does not name this queue"),
    ApplyReason.MAYBE_MOVED: _("it may have been moved: %(error)s"),
    ApplyReason.BEFORE_UNREAD: _("where it stood could not be read, so it was not written: %(error)s"),
    ApplyReason.LEFT_ALONE: _("%(why)s, so it was left alone"),
    ApplyReason.OTHER_LEFT_ALONE: _("members are told all queues at once, and of another %(why)s"),
    ApplyReason.NO_BROKER_ADDRESS: _("the address of %(broker)s is not known"),
    ApplyReason.BROKER_GAVE_UP: _("%(broker)s gave no usable answer %(times)s times in a row: %(error)s"),
    ApplyReason.NOT_TRIED: _("it was not tried: %(why)s"),
    ApplyReason.MORE_MOVED: _("And %(n)s more."),
    ApplyReason.COMMITTED_SINCE: _("it had no commit at the plan, and stands at %(offset)s"),
    ApplyReason.COMMIT_GONE: _("it stood at %(then)s at the plan, and has no commit any more"),
    ApplyReason.WENT_BACK: _("it went back from %(then)s to %(offset)s"),
    ApplyReason.WENT_PAST: _("it went on from %(then)s to %(offset)s, past its target %(target)s"),
    ApplyReason.WENT_ON: _("it went on from %(then)s to %(offset)s, by more than %(tolerance)s messages"),
    ApplyReason.MEMBERS_NOW_UNKNOWN: _("Who is in the group cannot be told: %(error)s."),
    ApplyReason.MEMBERS_THEN_UNKNOWN: _("Who was in the group at the plan is not known."),
    ApplyReason.CAME_ONLINE: _("The group was offline at the plan, and is online."),
    ApplyReason.WENT_OFFLINE: _("The group was online at the plan, and is offline."),
    ApplyReason.MEMBERS_JOINED: _("Other members: %(joined)s came."),
    ApplyReason.MEMBERS_LEFT: _("Other members: %(left)s left."),
    ApplyReason.MEMBERS_CHANGED: _("Other members: %(joined)s came; %(left)s left."),
    ApplyReason.AND_MORE: _("%(first)s and %(n)s more"),
    ApplyReason.MODEL_CHANGED: _("The group's message model was %(then)s at the plan, and is %(now)s."),
    ApplyReason.CONSUME_TYPE_CHANGED: _("The group's way to consume was %(then)s at the plan, and is %(now)s."),
    ApplyReason.MASTER_CHANGED: _("The master of %(broker)s was %(then)s at the plan, and is %(now)s."),
    ApplyReason.PERMISSION_CHANGED: _("The permission of %(broker)s was %(then)s at the plan, and is %(now)s."),
    ApplyReason.SERVER_SIDE_CHANGED: _(
        "useServerSideResetOffset of %(broker)s was %(then)s at the plan, and is %(now)s."
    ),
    ApplyReason.BROKER_NOT_READ: _("%(broker)s could not be read: %(error)s."),
    ApplyReason.NOT_ASKED: _("it was not asked"),
    ApplyReason.QUEUE_MOVED: _("%(topic)s, %(broker)s, queue %(queue_id)s: %(why)s."),
    ApplyReason.NOT_READ_NOW: _("it was not read"),
    ApplyReason.NOT_READABLE: _("it could not be read: %(error)s"),
    ApplyReason.ENDS_UNKNOWN: _("where it begins and ends is not known"),
    ApplyReason.END_WENT_BACK: _("it ended at %(then)s at the plan, and ends at %(now)s"),
    ApplyReason.PLAN_WITHOUT_TARGET: _("the plan has no target for it"),
    ApplyReason.TARGET_PAST_END: _("its target %(target)s lies behind its end, %(end)s"),
    ApplyReason.TARGET_EXPIRED: _("its target %(target)s has expired: it begins at %(start)s"),
}

EVIDENCE: dict[str, str | Promise] = {
    ReadBackEvidence.READ_ONCE: _("Set to %(target)s; read once: %(path)s."),
    ReadBackEvidence.READ_TIMES: _("Set to %(target)s; read %(times)s times over %(seconds)s s: %(path)s."),
    ReadBackEvidence.OFFSET_AFTER: _("%(offset)s after %(seconds)s s"),
    ReadBackEvidence.NO_COMMIT_AFTER: _("no commit after %(seconds)s s"),
    ReadBackEvidence.NEVER_READ: _("It could not be read for %(seconds)s s: %(error)s."),
    ReadBackEvidence.NOBODY_ASKED: _("nobody asked for it"),
    ReadBackEvidence.NO_MASTER_SEEN: _("no reading has seen a master of %(broker)s"),
    ReadBackEvidence.UNREADABLE_BACK: _("it could not be read back: %(why)s"),
    ReadBackEvidence.UNREADABLE_SINCE: _("Then it could not be read any more: %(error)s."),
    ReadBackEvidence.READ_AGAIN: _("It was unreadable for a while, and a restarted broker has forgotten the reset."),
    ReadBackEvidence.PRESENT_UNKNOWN: _("Who is in the group is not known: %(error)s."),
    ReadBackEvidence.NO_MEMBERS_ASKED: _("nobody was asked"),
    ReadBackEvidence.COMMITS_TOO_SELDOM: _("Members commit only every %(seconds)s s, too seldom to tell."),
    ReadBackEvidence.MEMBERS_REPLACED: _(
        "Members left meanwhile, and who came after them may have begun there or where it stood before."
    ),
    ReadBackEvidence.EITHER_WAY: _("Either it began at its target, or another offset was committed over it."),
    ReadBackEvidence.STOOD_AT_TARGET: _("It stood at its target already."),
    ReadBackEvidence.CAME_TO_TARGET: _("It reached its target without a write."),
    ReadBackEvidence.STOOD_COMMIT_GONE: _("It stood at its target already; it has no commit any more."),
    ReadBackEvidence.CAME_COMMIT_GONE: _("It reached its target without a write; it has no commit any more."),
    ReadBackEvidence.STOOD_WENT_BACK: _("It stood at its target already; it went back since."),
    ReadBackEvidence.CAME_WENT_BACK: _("It reached its target without a write; it went back since."),
    ReadBackEvidence.OFFSETS_DELETED: _(
        "Its commit is gone: the group's offsets were deleted, or its broker lost them."
    ),
    ReadBackEvidence.NO_COMMIT_AS_BEFORE: _("It has no commit, as before."),
    ReadBackEvidence.NOBODY_CONNECTED: _("Nobody is connected."),
    ReadBackEvidence.STANDS_AS_BEFORE: _("It stands where it was, and nobody is connected."),
    ReadBackEvidence.BROKER_FORGOT: _("Its broker was away, and came back without what was not on its disk yet."),
    ReadBackEvidence.NO_MEMBER_COMMITTED: _("No member was seen meanwhile: something else committed it."),
    ReadBackEvidence.TOLD_MEMBER_STANDS: _("A member that was told to stands there."),
    ReadBackEvidence.STANDS_LONG_ENOUGH: _(
        "That is longer than a pull may wait and the commit after it takes. A member that holds as many messages as "
        "it may begins there once it pulls again."
    ),
    ReadBackEvidence.PASSED_BETWEEN: _("Only a member that began at %(target)s is seen between it and %(before)s."),
    ReadBackEvidence.TOLD_MEMBER_COMMITTED: _("A member that was told to had committed the target."),
    ReadBackEvidence.BEGAN_STORED: _("The members connected after it was set, and began at the stored offset."),
    ReadBackEvidence.COMMITS_MEAN_TOLD: _("Its broker accepts a commit only after a member was told the target."),
    ReadBackEvidence.MEMBER_COMMITTED_OVER: _("%(member)s, connected since before, committed over it."),
    ReadBackEvidence.SOMEBODY_COMMITTED_OVER: _("Somebody committed over it."),
    ReadBackEvidence.TARGET_NOT_TAKEN: _("It goes on from where it was: the target was not taken."),
    ReadBackEvidence.OR_ONE_OF_MORE: _("%(first)s or one of %(n)s more"),
}

ACTS: dict[str, str | Promise] = {
    ResetAct.REQUESTED: _("Asked for a plan: %(target_kind)s."),
    ResetAct.PLANNED: _("Planned %(queues)s queues."),
    ResetAct.PLAN_EXPIRED: _("The plan expired."),
    ResetAct.APPLIED: _("Let the plan be applied."),
    ResetAct.RESUMED: _("Let it go on with queues: %(queues)s. It had ended before: %(why)s"),
    ResetAct.CANCELLED_PLAN: _("Cancelled the plan."),
    ResetAct.CANCELLED_EARLY: _("Cancelled it before a broker was told."),
    ResetAct.BEGAN: _("A worker began to apply it."),
    ResetAct.TOOK_OVER: _("Took it over from a worker that had stopped."),
    ResetAct.RECONNECTED: _("Its connections were closed meanwhile: it goes on with new ones."),
    ResetAct.ENDED: _("Ended: %(counts)s."),
    ResetAct.ENDED_WITHOUT_QUEUES: _("Ended: no queue was to be moved."),
}

ALL = (ROWS, PLANS, WARNINGS, APPLIED, EVIDENCE, ACTS)
