"""Why the general worker has nothing to answer with, in words."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.reasons import AnswerProblem, ConnectionCure

ANSWER_PROBLEMS: dict[str, str | Promise] = {
    AnswerProblem.WORKER_FAILED: _("The worker failed. See its log for the cause."),
    AnswerProblem.WORKER_SILENT: _("The general worker did not answer within %(n)s s. Check that it is running."),
    AnswerProblem.BODIES_NOT_PERMITTED: _(
        "Message bodies need the permission %(permission)s, which the requesting user no longer has."
    ),
    AnswerProblem.DUMPS_NOT_PERMITTED: _(
        "Thread dumps need the permission %(permission)s, which the requesting user no longer has."
    ),
    AnswerProblem.CHECKS_NOT_PERMITTED: _(
        "Connection tests need the permission %(permission)s, which the requesting user no longer has."
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
    ConnectionCure.ADDRESS: _(
        "Check the address and its port, and that the process runs there. Brokers announce the address of brokerIP1: "
        "it must be reachable from the workers."
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
