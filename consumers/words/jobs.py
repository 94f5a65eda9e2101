"""Why the general worker has nothing to answer with, in words."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.jobs import AnswerProblem

ANSWER_PROBLEMS: dict[str, str | Promise] = {
    AnswerProblem.WORKER_FAILED: _("The worker failed. See its log for the cause."),
    AnswerProblem.WORKER_SILENT: _("The general worker did not answer within %(n)s s. Check that it is running."),
    AnswerProblem.BODIES_NOT_PERMITTED: _(
        "Message bodies need the permission %(permission)s, which the requesting user no longer has."
    ),
    AnswerProblem.DUMPS_NOT_PERMITTED: _(
        "Thread dumps need the permission %(permission)s, which the requesting user no longer has."
    ),
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
