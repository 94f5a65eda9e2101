"""Why the general worker has nothing to answer a page or REST with."""

from enum import StrEnum


class AnswerProblem(StrEnum):
    WORKER_FAILED = "answer_worker_failed"
    WORKER_SILENT = "answer_worker_silent"  # n: seconds
    BODIES_NOT_PERMITTED = "bodies_not_permitted"  # permission
    DUMPS_NOT_PERMITTED = "dumps_not_permitted"  # permission
    CHECKS_NOT_PERMITTED = "checks_not_permitted"  # permission
    CLUSTER_GONE = "answer_cluster_gone"  # cluster
    CONNECTION_UNTESTED = "connection_untested"  # error
    GROUP_GONE = "answer_group_gone"  # cluster, group
    NO_BROKER = "answer_no_broker"
    NO_MASTER = "answer_no_master"  # broker
    BROKERS_UNREACHABLE = "brokers_unreachable"  # error
    # Of a message.
    NO_OFFSET_IN_TOPIC = "no_offset_in_topic"  # topic
    MESSAGE_NOT_FETCHED = "message_not_fetched"  # broker, error
    QUEUE_EMPTY = "answer_queue_empty"  # offset
    OUTSIDE_QUEUE = "answer_outside_queue"  # offset, first, last
    NOT_RETURNED = "message_not_returned"  # offset, outcome
    # Of a thread dump.
    CLIENT_GONE = "client_gone"
    THREADS_UNREAD = "threads_unread"  # error
    NO_THREADS = "no_threads"
    DUMP_RUNNING = "dump_running"


class ConnectionCure(StrEnum):
    """What to check first where a call of a connection test fails."""

    ADDRESS = "check_address"
    FIREWALL = "check_firewall"
    TLS = "check_tls"
    CERTIFICATE = "check_certificate"
    KEYS = "check_keys"
    PERMISSION = "check_permission"
    VERSION = "check_version"
    NOT_ROCKETMQ = "check_port"
