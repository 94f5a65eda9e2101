"""What the general worker reports, in words: why it has no answer, what helps a connection that failed, and what
reading back an offset found.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.reasons import AnswerProblem, ConnectionCure
from consumers.vocabulary.resets import ReadBackEvidence

ANSWER_PROBLEMS: dict[str, str | Promise] = {
    AnswerProblem.WORKER_FAILED: _("The worker failed. See its log for the cause."),
    AnswerProblem.WORKER_SILENT: _("The general worker did not answer within %(n)s s. Check that it is running."),
    AnswerProblem.BODIES_NOT_PERMITTED: _(
        "Message bodies need the permission %(permission)s, which the requesting user no longer has for the cluster "
        "%(cluster)s."
    ),
    AnswerProblem.DUMPS_NOT_PERMITTED: _(
        "Thread dumps need the permission %(permission)s, which the requesting user no longer has for the cluster "
        "%(cluster)s."
    ),
    AnswerProblem.CHECKS_NOT_PERMITTED: _(
        "Connection tests need the permission %(permission)s, which the requesting user no longer has for the cluster "
        "%(cluster)s."
    ),
    AnswerProblem.CLUSTER_GONE: _("There is no cluster %(cluster)s."),
    AnswerProblem.CONNECTION_UNTESTED: _("The connection could not be tested: %(error)s"),
    AnswerProblem.GROUP_GONE: _("There is no group %(group)s in cluster %(cluster)s."),
    AnswerProblem.NO_BROKER: _("No master of the cluster is known yet."),
    AnswerProblem.NO_MASTER: _("No master of %(broker)s is known. It may have left the cluster."),
    AnswerProblem.BROKERS_UNREACHABLE: _("The brokers could not be asked: %(error)s"),
    AnswerProblem.NO_OFFSET_IN_TOPIC: _("The group has no offset in %(topic)s."),
    AnswerProblem.MESSAGE_NOT_FETCHED: _("The message could not be fetched from %(broker)s: %(error)s"),
    AnswerProblem.QUEUE_EMPTY: _(
        "There is no message at offset %(offset)s. The queue is empty: all messages have expired."
    ),
    AnswerProblem.OUTSIDE_QUEUE: _(
        "There is no message at offset %(offset)s. The queue holds offsets %(first)s to %(last)s; older messages have "
        "expired."
    ),
    AnswerProblem.NOT_RETURNED: _("The broker returned no message at offset %(offset)s: %(outcome)s."),
    AnswerProblem.CLIENT_GONE: _("No broker lists the client now."),
    AnswerProblem.THREADS_UNREAD: _("The client's threads could not be read: %(error)s"),
    AnswerProblem.NO_THREADS: _("The client reported no threads. Only Java clients do."),
    AnswerProblem.DUMP_RUNNING: _("Another thread dump of this client is being taken. Try again in a few seconds."),
}

CONNECTION_CURES: dict[ConnectionCure, str | Promise] = {
    ConnectionCure.ADDRESS: _("Check the address and its port, and that the process runs there."),
    ConnectionCure.ANNOUNCED_ADDRESS: _(
        "Check that the broker runs there. It announces the address of its brokerIP1: that must be reachable from the "
        "workers."
    ),
    ConnectionCure.FIREWALL: _("Check firewalls and routes between the workers and this address."),
    ConnectionCure.TLS: _("It closed the connection. If it requires TLS, register the cluster with TLS."),
    ConnectionCure.CERTIFICATE: _(
        "Register the authority that signed this certificate as the TLS authorities, or a name that it contains."
    ),
    ConnectionCure.KEYS: _("The cluster uses access control: register its access key and secret key."),
    ConnectionCure.PERMISSION: _("Allow this call for the access key in the cluster's access control."),
    ConnectionCure.VERSION: _("The broker refuses this call: its version may not know it."),
    ConnectionCure.NOT_ROCKETMQ: _("What answers here is not RocketMQ's remoting protocol: check the port."),
}

# After a reset.
READ_BACK_EVIDENCE: dict[str, str | Promise] = {
    ReadBackEvidence.READ_ONCE: _("Set to %(target)s; read once: %(path)s."),
    ReadBackEvidence.READ_TIMES: _("Set to %(target)s; read %(n_times)s over %(seconds)s s: %(path)s."),
    ReadBackEvidence.OFFSET_AFTER: _("%(offset)s after %(seconds)s s"),
    ReadBackEvidence.NO_COMMIT_AFTER: _("no commit after %(seconds)s s"),
    ReadBackEvidence.NEVER_READ: _("Could not be read for %(seconds)s s: %(error)s."),
    ReadBackEvidence.NOBODY_ASKED: _("nobody asked for it"),
    ReadBackEvidence.NO_MASTER_SEEN: _("no poll has found a master of %(broker)s"),
    ReadBackEvidence.UNREADABLE_BACK: _("it could not be read back: %(why)s"),
    ReadBackEvidence.UNREADABLE_SINCE: _("After that it could not be read: %(error)s."),
    ReadBackEvidence.NOT_WATCHED: _(
        "Nothing was read for a while: a member may have joined, consumed and left meanwhile."
    ),
    ReadBackEvidence.READ_AGAIN: _("It was not read for a while, and a restarted broker has forgotten the reset."),
    ReadBackEvidence.PRESENT_UNKNOWN: _("The members of the group are unknown: %(error)s."),
    ReadBackEvidence.NO_MEMBERS_ASKED: _("nobody was asked"),
    ReadBackEvidence.COMMITS_TOO_SELDOM: _("Members commit only every %(seconds)s s, too rarely to confirm it."),
    ReadBackEvidence.MEMBERS_REPLACED: _(
        "Members left meanwhile, and those that joined may have started at either offset."
    ),
    ReadBackEvidence.EITHER_WAY: _("Either a member started at the target, or another offset was committed over it."),
    ReadBackEvidence.STOOD_AT_TARGET: _("It was at its target already."),
    ReadBackEvidence.CAME_TO_TARGET: _("It reached its target without a write."),
    ReadBackEvidence.STOOD_COMMIT_GONE: _("It was at its target already; it has no committed offset any more."),
    ReadBackEvidence.CAME_COMMIT_GONE: _("It reached its target without a write; it has no committed offset any more."),
    ReadBackEvidence.STOOD_WENT_BACK: _("It was at its target already; it went back since."),
    ReadBackEvidence.CAME_WENT_BACK: _("It reached its target without a write; it went back since."),
    ReadBackEvidence.OFFSETS_DELETED: _(
        "Its committed offset is gone: the group's offsets were deleted, or the broker lost them."
    ),
    ReadBackEvidence.NO_COMMIT_AS_BEFORE: _("It has no committed offset, as before."),
    ReadBackEvidence.NOBODY_CONNECTED: _("Nobody is connected."),
    ReadBackEvidence.STANDS_AS_BEFORE: _("It is where it was, and nobody is connected."),
    ReadBackEvidence.BROKER_FORGOT: _("Its broker restarted and lost offsets that it had not yet flushed to disk."),
    ReadBackEvidence.NO_MEMBER_COMMITTED: _("No member was connected meanwhile: something else committed it."),
    ReadBackEvidence.TOLD_MEMBER_STANDS: _("A notified member is there."),
    ReadBackEvidence.STANDS_LONG_ENOUGH: _(
        "That is longer than a pull and the commit after it take. A member with a full cache starts there at its "
        "next pull."
    ),
    ReadBackEvidence.PASSED_BETWEEN: _(
        "Only a member that started at %(target)s reports offsets between it and %(before)s."
    ),
    ReadBackEvidence.TOLD_MEMBER_COMMITTED: _("A notified member had committed the target."),
    ReadBackEvidence.BEGAN_STORED: _("The members connected after the offset was set, and started at it."),
    ReadBackEvidence.COMMITS_MEAN_TOLD: _(
        "The broker accepts a commit only after a member was notified of the target."
    ),
    ReadBackEvidence.MEMBER_COMMITTED_OVER: _("%(member)s, connected since before, committed over it."),
    ReadBackEvidence.SOMEBODY_COMMITTED_OVER: _("Somebody committed over it."),
    ReadBackEvidence.TARGET_NOT_TAKEN: _("It continues from where it was: the target was not taken."),
    ReadBackEvidence.OR_ONE_OF_MORE: _("%(first)s or one of %(n)s more"),
}
