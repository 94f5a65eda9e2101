"""Lines of RocketMQ's logs, and the files that have them, in words."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _

from consumers.vocabulary.logs import LogCode, LogForm, LogProblem, LogRole, ZoneBasis
from consumers.words.spans import when

ROLES: dict[str, str | Promise] = {
    LogRole.CLIENT: _("client log"),
    LogRole.BROKER: _("broker log"),
}

FORMS: dict[str, str | Promise] = {
    LogForm.CLIENT_4: _("client 4.x"),
    LogForm.CLIENT_5: _("client 5.x"),
    LogForm.BROKER: _("broker layout"),
    LogForm.OWN: _("own layout"),
}

ZONE_BASES: dict[str, str | Promise] = {
    ZoneBasis.NAMED: _("named with the glob"),
    ZoneBasis.FORM: _("RocketMQ's own layout writes GMT+8"),
    ZoneBasis.MACHINE: _("LOG_ZONE, or the zone of the worker's machine"),
}

CODES: dict[str, str | Promise] = {
    LogCode.REBALANCED: _("assignment changed"),
    LogCode.REBALANCE_NOTIFIED: _("rebalance requested by a broker"),
    LogCode.QUEUE_ADDED: _("queue taken"),
    LogCode.QUEUE_NOT_ADDED: _("queue not taken"),
    LogCode.QUEUE_REMOVED: _("queue removed"),
    LogCode.PULL_EXPIRED: _("queue removed: its pull was stuck"),
    LogCode.PULL_DROPPED: _("pull dropped"),
    LogCode.QUEUE_DROPPED: _("messages dropped with their queue"),
    LogCode.RESULT_DROPPED: _("consumed, but result dropped with the queue"),
    LogCode.LOCKED: _("queue locked"),
    LogCode.LOCK_FAILED: _("queue not locked"),
    LogCode.LOCK_LOST: _("queue lock lost"),
    LogCode.UNLOCKED: _("queue unlocked"),
    LogCode.CONSUME_THREW: _("listener threw an exception"),
    LogCode.CONSUME_RETURNED_NULL: _("listener returned null"),
    LogCode.CONSUME_NOT_OK: _("orderly listener suspended the queue"),
    LogCode.CONSUME_TIMED_OUT: _("sent back after the consume timeout"),
    LogCode.SEND_BACK_FAILED: _("send-back failed"),
    LogCode.SEND_BACK_SKIPPED: _("send-back skipped, as the message had already been sent back"),
    LogCode.COMMITTED: _("offset committed"),
    LogCode.COMMITTED_LAST: _("offset committed when the queue was removed"),
    LogCode.COMMIT_FAILED: _("commit failed"),
    LogCode.OFFSET_FORGOTTEN: _("offset of a queue forgotten"),
    LogCode.OFFSET_ILLEGAL: _("pull offset illegal"),
    LogCode.OFFSET_CORRECTED: _("pull offset corrected"),
    LogCode.FIRST_PULL: _("first pull of a locked queue"),
    LogCode.RESET_RECEIVED: _("offset reset received"),
    LogCode.CLIENT_CREATED: _("client created"),
    LogCode.CONSUMER_STARTED: _("consumer started"),
    LogCode.CONSUMER_STOPPED: _("consumer shut down"),
    LogCode.CLIENT_STOPPED: _("client shut down"),
    LogCode.CLIENT_UNREGISTERED: _("client unregistered itself"),
    LogCode.CONSUMER_CONNECTED: _("consumer connected"),
    LogCode.CONSUMER_REGISTERED: _("consumer registered"),
    LogCode.CONSUMER_UNREGISTERED: _("consumer unregistered"),
    LogCode.CHANNEL_CLOSED: _("consumer connection closed"),
    LogCode.CHANNEL_EXPIRED: _("consumer evicted, as its heartbeats stopped"),
    LogCode.GROUP_EMPTY: _("last consumer of the group gone"),
    LogCode.CLIENT_ID_DIFFERS: _("client id changed on one connection"),
    LogCode.LOCK_GRANTED: _("queue lock granted"),
    LogCode.LOCK_TAKEN_OVER: _("expired queue lock taken over"),
    LogCode.LOCK_REFUSED: _("queue lock refused"),
    LogCode.LOCK_RELEASED: _("queue lock released"),
    LogCode.UNLOCK_REFUSED: _("unlock refused, as another client holds the lock"),
    LogCode.OFFSET_WENT_BACK: _("lower offset committed over a higher one"),
    LogCode.COMMIT_REFUSED: _("commit refused after a reset"),
    LogCode.OFFSET_TOO_SMALL: _("pull below the min offset"),
    LogCode.RESET_STARTED: _("offset reset started"),
    LogCode.DEAD_LETTERED: _("message dead-lettered"),
}

PROBLEMS: dict[str, str | Promise] = {
    LogProblem.NOT_PERMITTED: _(
        "The general worker may not read the file: allow its user to read the file and to enter the folders above it."
    ),
    LogProblem.UNREADABLE: _("The file could not be read: %(error)s. Check its disk or mount."),
    LogProblem.NO_FILE: _("There is no such file, or the path is no file. Correct the glob, or mount its disk."),
    LogProblem.LINK_OUTSIDE: _("A link leads out of the folders of the glob: name the folder where the file is."),
    LogProblem.FORM_UNKNOWN: _(
        "No line begins as RocketMQ's logs do (date, time, level): name rocketmq_client.log, broker.log, lock.log or "
        "dlq.log."
    ),
    LogProblem.ZONE_DIFFERS: _(
        "Not read: in the zone %(zone)s the last line is %(minutes)s min off from the last write. Name the zone of "
        "the log before its glob, as Asia/Shanghai=/logs/*.log."
    ),
    LogProblem.REPLACED_UNREAD: _(
        "The file was packed, deleted or replaced. Lines written after it was last read (%(read_at)s) may be missing."
    ),
    LogProblem.GLOB: _("The logs are named wrongly: %(detail)s"),
    LogProblem.GLOB_NO_FILE: _("The glob matches no file: is its disk mounted here, and may its folders be entered?"),
    LogProblem.GLOB_PACKED: _("Packed files are not read: %(files)s."),
    LogProblem.GLOB_ODD_PATHS: _("The glob matches paths that are not text, or longer than %(longest)s characters."),
    LogProblem.GLOB_TOO_MANY: _(
        "The globs match more than %(most)s files (LOG_FILES): the others are not read. Narrow them, or raise it."
    ),
}


def log_event_words(code: str) -> str:
    """A code that is not in the catalogue is said as it is: another version of the product may have stored it."""
    return str(CODES.get(code, code))


def log_problem_words(problem: Mapping[str, Any] | None) -> str | None:
    """Of a file as its row stores it; None where nothing is wrong."""
    if problem is None:
        return None
    known = PROBLEMS.get(problem["code"])
    if known is None:
        return problem["code"]
    params = dict(problem["params"])
    if "read_at" in params:
        at = params["read_at"]
        params["read_at"] = gettext("never") if at is None else when(datetime.fromisoformat(at))
    return str(known) % params


def zone_basis_words(basis: str) -> str:
    return str(ZONE_BASES.get(basis, basis))


def log_role_words(role: str) -> str:
    return str(ROLES.get(role, role))


def log_form_words(form: str) -> str:
    return str(FORMS.get(form, form))
