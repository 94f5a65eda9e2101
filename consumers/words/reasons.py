"""Reasons in words: of what is stored as a code with its values, and of what is found while a request is answered."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, overload

from django.utils.functional import Promise, lazy
from django.utils.translation import gettext, gettext_lazy as _

from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.reasons import (
    CodedReason,
    FlagReason,
    PollProblem,
    ReasonCode,
    RebalanceCause,
    RebalanceReason,
    ResendCause,
    StoredWords,
    VolumeReason,
    reasons_in,
)
from consumers.vocabulary.times import iso

from . import alerts, jobs, offset_files, repeats, resets
from .marks import chained, clauses, labelled, listed
from .spans import age, counted, size, when, with_counts, with_plain_times
from .states import OF_BROKER, OF_VALUES as UNKNOWN_OF_VALUES, REASONS as UNKNOWN_REASONS

REBALANCE_CAUSES: dict[str, str | Promise] = {
    RebalanceCause.JOINED: _("joined"),
    RebalanceCause.LEFT: _("left"),
    RebalanceCause.GONE: _("left or crashed"),
    RebalanceCause.SILENT: _("not reporting"),
    RebalanceCause.RECONNECTED: _("reconnected"),
    RebalanceCause.RESTARTED: _("restarted"),
    RebalanceCause.QUEUE_COUNT: _("queue count"),
    RebalanceCause.SUBSCRIPTION: _("subscription"),
    RebalanceCause.STRATEGY: _("strategy"),
    RebalanceCause.BROKER: _("broker"),
    RebalanceCause.PULL_STUCK: _("pull stuck"),
    RebalanceCause.UNKNOWN: _("cause unknown"),
}

REBALANCE_REASONS: dict[str, str | Promise] = {
    RebalanceReason.NO_READING_BEFORE: _("no poll before it is known"),
    RebalanceReason.NOT_SETTLED: _("no two consecutive polls have agreed since"),
    RebalanceReason.NOT_DATED: _("no member's clock dates it between the two polls"),
    RebalanceReason.MEMBERS_BEFORE: _("the members before it were not sampled"),
    RebalanceReason.MEMBERS_AFTER: _("the members after it were not sampled"),
    RebalanceReason.NOT_REPORTED: _("the polls around it do not contain the answer"),
    RebalanceReason.NO_TOPIC: _("no topic of the group was known then"),
    RebalanceReason.NO_QUEUE: _("no queue of the topic is known"),
    RebalanceReason.EVERY_MEMBER: _("every member of a broadcasting group owns every queue"),
    RebalanceReason.OWN_OFFSETS: _("members of a broadcasting group keep offsets of their own"),
    RebalanceReason.LAG_BEFORE: _("the lag before it was not known for every queue"),
    RebalanceReason.LAG_WITHIN: _("the lag during it was not known for every queue"),
    RebalanceReason.OWNERS_BEFORE: _("the owners before it were not sampled"),
    RebalanceReason.OWNERS_AFTER: _("the owners after it were not sampled"),
    RebalanceReason.NO_OLD_OWNER: _("the owner before the gap was not sampled"),
    RebalanceReason.NO_START: _("the offset at which the next owner began is unknown"),
    RebalanceReason.NO_END: _("how far the last owner can have pulled is unknown"),
}


def cause_words(code: str) -> str:
    """A code that is not in the catalogue is said as it is: another version of the product may have stored it."""
    return str(REBALANCE_CAUSES.get(code, code))


# Why a dead-letter message was not resent, and why a resend ended early, in the language of the request.

RESEND_CAUSES: dict[str, str | Promise] = {
    ResendCause.ADDRESS_UNKNOWN: _("the address of %(broker)s is unknown"),
    ResendCause.MESSAGE_UNREAD: _("the dead-letter message could not be read: %(error)s"),
    ResendCause.MESSAGE_GONE: _("the broker no longer has the dead-letter message"),
    ResendCause.MESSAGE_REPLACED: _("the offset holds another message: the topic was recreated"),
    ResendCause.NO_ORIGIN: _("the message does not name its original topic"),
    ResendCause.TOPIC_NEVER_READ: _("no poll has seen the topic %(topic)s"),
    ResendCause.ROUTE_UNREAD: _("the route of %(topic)s could not be read: %(error)s"),
    ResendCause.NO_TARGET: _("no broker has a queue of %(topic)s that is both readable and writable"),
    ResendCause.TARGET_UNREAD: _("the end of the target queue could not be read: %(error)s"),
    ResendCause.RESENT_BEFORE: _("resent at %(at)s by %(by)s"),
    ResendCause.MAYBE_RESENT_BEFORE: _("may have been resent at %(at)s by %(by)s"),
    ResendCause.NO_ANSWER: _("no answer: %(error)s"),
    ResendCause.NOT_READ_BACK: _("the broker accepted the message, but it could not be read back: %(error)s"),
    ResendCause.NOT_READABLE_YET: _("the broker accepted the message, but it is not readable yet"),
    ResendCause.DIVERTED: _(
        "The broker moved the message to the dead-letter topic instead of the retry topic: it does so while a group "
        "holds queue locks, as orderly consumers do. Resend to the original topic."
    ),
    ResendCause.MAYBE_SENT: _("the message may have been sent: %(why)s"),
    ResendCause.QUEUE_RECREATED: _("the queue ends at %(end)s, and ended at %(floor)s before: it was recreated"),
    ResendCause.TOO_MANY_SINCE: _("%(n_messages)s arrived since; only the first %(searched)s were searched"),
    ResendCause.OFFSETS_UNREADABLE: _("offset %(from)s could not be read: the broker continues at %(to)s"),
    ResendCause.SEARCH_WITHOUT_END: _("the search of the target queue did not end: %(error)s"),
    ResendCause.ACCOUNT_GONE: _("The account of %(user)s, who started the resend, no longer exists. Plan it again."),
    ResendCause.PERMISSION_LOST: _(
        "%(user)s, who started the resend, no longer has the permission %(permission)s for the cluster %(cluster)s. "
        "A user who has it can plan it again."
    ),
    ResendCause.FAILURES_IN_A_ROW: _("Stopped: %(n_messages)s in a row could not be sent."),
    ResendCause.NO_WORKER: _(
        "No worker started the job within 5 minutes. Check that a Celery worker for the queue general runs, and plan "
        "the resend again: dead-letter messages may have been added or deleted since."
    ),
}


OF_VALUES: dict[str, str | Promise] = {
    ReasonCode.NOT_AGGREGATED: _("not aggregated yet"),
    ReasonCode.NOT_POLLED: _("no poll in this window"),
    ReasonCode.NOT_A_MEMBER: _("not a member of the group then"),
    ReasonCode.MEMBER_NOT_ASKED: _("the member did not report in this window"),
    ReasonCode.MEMBER_RATES_EXPIRED: _("what members report is retained for %(n_days)s"),
    ReasonCode.MEMBER_DOES_NOT_REPORT: _("the member does not report it"),
    ReasonCode.NO_MESSAGE_IN_WINDOW: _("no message in this window"),
    ReasonCode.NO_MEMBER: _("the group has no member"),
    ReasonCode.NO_OWNER: _("no member owns it"),
    ReasonCode.MEMBERS_NOT_ASKED: _("the group's members have not been asked yet"),
    ReasonCode.NEVER_DRAINS: _("messages are produced at least as fast as they are consumed"),
    ReasonCode.NO_EXPIRY_EXPECTED: _("not expected: the time lag does not rise towards the retention"),
    ReasonCode.EXPIRY_UNKNOWN: _("the trend of the time lag, or the retention of a broker, is unknown"),
    ReasonCode.EXPIRY_NO_RETENTION: _("the message retention of a broker is unknown"),
    ReasonCode.EXPIRY_NO_TIME_LAG: _("the time lag of a queue is unknown"),
    ReasonCode.EXPIRY_NO_TREND: _("the trend of a queue's time lag is unknown"),
    ReasonCode.NOT_READ_YET: _("not read yet"),
    ReasonCode.NOT_EVALUATED_YET: _("not evaluated yet"),
    ReasonCode.EVALUATION_LATE: _("evaluation is late: the pipeline lags or does not run"),
    ReasonCode.CLUSTER_NOT_POLLED: _("the cluster is not polled: the poll worker lags or does not run"),
    ReasonCode.LAG_IS_YOUNG: _("the lag is newer than the last evaluation"),
    ReasonCode.LOST_IN_QUEUES: _("%(why)s: %(lost_queues)s"),
    ReasonCode.BEHIND_SLAVES: _("%(why)s: %(slaves)s"),
    ReasonCode.MEMBERS_UNREAD_SINCE: _(
        "members not read from %(begin)s to %(end)s: the group may have come to rest meanwhile"
    ),
    ReasonCode.SELDOM_ASKED: _("its members were polled only %(n_times)s within %(changing_seconds)s of changes"),
    ReasonCode.QUEUES_UNREPORTED_SINCE: _("not every member has reported its queues since %(since)s"),
    ReasonCode.RESET_BY: _("reset by %(name)s at %(at)s (%(reason)s)"),
    ReasonCode.MAYBE_RESET_BY: _("perhaps the reset by %(name)s at %(at)s (%(reason)s)"),
    ReasonCode.MAYBE_FAILOVER: _("perhaps the failover: slave %(slave)s stood in for its master at %(at)s"),
    ReasonCode.NOT_BY_SITE: _("not by Consumerscope"),
    ReasonCode.BROKER_FAILS: _("%(name)s could not be read: %(error)s"),
    ReasonCode.NO_CAUSE: _("no cause was recorded"),
    ReasonCode.BROKER_NOT_SCRAPED: _("%(name)s has not been scraped yet"),
    ReasonCode.BROKER_OVERDUE: _("%(name)s has not been read for more than %(late_seconds)s"),
    ReasonCode.BROKER_IN_FUTURE: _("%(name)s was read at a time in the future: a clock was set back since"),
    ReasonCode.BROKER_UNLISTED: _("%(name)s is not listed in the cluster"),
    ReasonCode.NO_REBALANCE: _("no rebalance seen"),
    ReasonCode.CLUSTER_READ_ONLY: _(
        "The cluster %(cluster)s is marked read-only, so nothing is changed on its brokers. To "
        "change this, remove it from CONSUMERSCOPE_READ_ONLY_CLUSTERS."
    ),
    ReasonCode.READ_ONLY_BY_OTHER: _(
        "The cluster %(cluster)s shares a name server or broker with %(marked)s, which is marked "
        "read-only, so nothing is changed on its brokers. To change this, remove %(marked)s from "
        "CONSUMERSCOPE_READ_ONLY_CLUSTERS."
    ),
}
OF_FLAGS: dict[str, str | Promise] = {
    FlagReason.SYSTEM: _("a RocketMQ system group"),
    FlagReason.PAUSED: _("consumeEnable is false: brokers refuse its pulls"),
    FlagReason.RETIRED_TOPICS: _("no member subscribes to %(topics)s"),
    FlagReason.OUTSIDE_STORE: _("%(store)s stores its offsets, not the brokers"),
    FlagReason.UNLISTED_MEMBERS: _("active, but no broker lists a member: its members may be clients of a proxy"),
    FlagReason.BROADCASTING: _("each member consumes every queue"),
    FlagReason.POP: _("offsets advance when messages are popped, not when they are acknowledged"),
    FlagReason.TAG_FILTERED: _("consumes only %(tags)s: what it skips is lag too"),
    FlagReason.TAGS_OF_TOPIC: _("%(tags)s of %(topic)s"),
    FlagReason.INACTIVE: _("no member, and nothing consumed for %(n_days)s"),
    FlagReason.OFFLINE_BY_HABIT: _("without a member for %(percent)s %% of the last %(n_days)s"),
    FlagReason.CONFIGURATION_UNREAD: _("its configuration was not read"),
    FlagReason.CONSUME_TYPE_UNKNOWN: _("no member has reported how it consumes"),
    FlagReason.MEMBERS_NOT_REPORTED: _("not every broker has reported its members lately"),
    FlagReason.WATCHED_TOO_SHORT: _("watched for %(days)s of %(needed)s days"),
    FlagReason.MEMBERS_NOT_WATCHED: _("membership was not watched for %(n_days)s"),
}
POLL_PROBLEMS: dict[str, str | Promise] = {
    PollProblem.REDIS_DOWN: _(
        "Redis does not answer (%(error)s), so the worker cannot be asked. Check that Redis runs, and try again."
    ),
    PollProblem.NO_BROKER_KNOWN: _("The name server lists no broker."),
    PollProblem.TLS_UNUSABLE: _("%(error)s: correct the file, or name another: manage.py cluster add."),
    PollProblem.NO_SECRET_KEY: _(
        "%(cluster)s has the access key %(access_key)s and no secret key: "
        "manage.py cluster add %(cluster)s --secret-key-env VARIABLE."
    ),
    PollProblem.SECRET_SEALED_OTHERWISE: _(
        "The secret key of %(cluster)s was stored under another CONSUMERSCOPE_SECRET_KEY: "
        "give it again, manage.py cluster add %(cluster)s --secret-key-env VARIABLE, or set the old one."
    ),
    PollProblem.CONNECTIONS_CLOSED: _(
        "its connections were closed, because the cluster was registered again or its worker ends"
    ),
    PollProblem.WORK_TOO_LONG: _("the cluster gave no result within %(limit_seconds)s"),
    PollProblem.NO_MASTER_LISTED: _("The name server lists no master of %(broker)s."),
    PollProblem.NO_ROUTE: _("The name server has no route of %(topic)s to it."),
    PollProblem.OF_BROKER: _("%(broker)s: %(error)s"),
    PollProblem.NOT_ASKED_UNTIL: _("%(error)s; not asked again until %(until)s"),
    PollProblem.NOT_ASKED_AFTER_FAILURES: _("%(error)s; after %(n_failures)s in a row not asked again until %(until)s"),
    PollProblem.NO_DISPATCH_BACKLOG: _("the broker does not report how far its dispatch is behind"),
    PollProblem.NO_BROKER_ASKED: _("No broker could be asked."),
    PollProblem.BEHIND_PROXY: _("proxies do not forward requests to their clients"),
    PollProblem.CLIENT_PAUSED: _("%(error)s; asked at %(asked)s and again from %(until)s on"),
    PollProblem.MESSAGE_EXPIRED: _("the message at %(offset)s has expired: the oldest is at %(oldest)s"),
    PollProblem.MESSAGE_NOT_YET: _("the broker has no message at %(offset)s yet"),
    PollProblem.MESSAGE_SKIPPED: _("the message at %(offset)s is gone: the broker continues at %(next)s"),
    PollProblem.WITHOUT_TIME: _("the message at %(offset)s has a time that is in no calendar"),
    PollProblem.LEVEL_NOT_ASKED: _("not asked in this scrape: too many levels have messages"),
    PollProblem.NO_NEXT_MESSAGE: _("the broker has no message at %(offset)s, up to which it has delivered"),
    PollProblem.NO_DUE_TIME: _("the broker has no due time at %(offset)s but %(code)s"),
    PollProblem.FROM_SLAVE: _("read from a slave, which delivers no delayed messages"),
    PollProblem.NO_SCHEDULE_TOPIC: _("the broker gave no offsets of SCHEDULE_TOPIC_XXXX"),
    PollProblem.DLQ_ONLY_WRITABLE: _(
        "%(broker)s: %(topic)s can be written only, as brokers before 4.9.2 created such topics: make it "
        "readable with mqadmin updateTopicPerm -b %(broker)s -t '%(topic)s' -p 6."
    ),
    PollProblem.BROKER_ONLY_WRITABLE: _("%(broker)s does not allow reads: set its brokerPermission to 6."),
    PollProblem.KEY_NOT_ALLOWED: _("%(error)s. Allow the access key of this cluster to read (Sub and Get) %(topic)s."),
    PollProblem.NOTHING_THERE: _(
        "the broker reports that its queue continues beyond %(offset)s, and returns no message there"
    ),
    PollProblem.UNREADABLE_FOR_NOW: _("the broker cannot read what is at %(offset)s at present"),
}
CATALOGUES = (
    *(
        OF_VALUES,
        UNKNOWN_OF_VALUES,
        OF_FLAGS,
        POLL_PROBLEMS,
        REBALANCE_REASONS,
        RESEND_CAUSES,
        repeats.ATTEMPT_UNKNOWN,
        *resets.ALL,
        jobs.READ_BACK_EVIDENCE,
        jobs.ANSWER_PROBLEMS,
    ),
    *(offset_files.START_RULES, offset_files.START_REASONS, offset_files.EXPOSURE_REASONS),
    *(alerts.ALERT_EVIDENCE, alerts.PREVIEW_REASONS, alerts.INCIDENT_SENTENCES, alerts.DELIVERY_RESULTS),
    *(alerts.TEMPLATE_PROBLEMS, alerts.URL_PROBLEMS),
)
REASONS: dict[str, str | Promise] = {str(code): words for catalogue in CATALOGUES for code, words in catalogue.items()}


# Codes whose values are worded by a room above: code to the words of its values.
WORDED_ABOVE: dict[str, Callable[[Mapping[str, Any]], str]] = {}


def coded_reason(code: str, **values: Any) -> CodedReason:
    """Also of what is stored as a bare code. `values` may hold such reasons."""
    return CodedReason(code, _words({"code": code, **values}), values)


def _lazily(code: str) -> CodedReason:
    return coded_reason(code)


# A reason without values, in the language of whoever reads it: a constant of a module.
lazy_reason = lazy(_lazily, CodedReason)


@overload
def stored_words(stored: str) -> str: ...


@overload
def stored_words(stored: None) -> None: ...


def stored_words(stored: str | None) -> str | None:
    """A CodedReason where something is stored as a code, the first of several. What is none is shown as it is."""
    if stored is None or isinstance(stored, StoredWords):
        return stored
    reasons = reasons_in(stored)
    words = " ".join(map(_words, reasons))
    codes = (reason["code"] for reason in reasons if not isinstance(reason, str))
    return (
        StoredWords(words, stored) if (code := next(codes, None)) is None else CodedReason(code, words, stored=stored)
    )


def _words(reason: Mapping[str, Any] | str) -> str:
    """A code that is not in the catalogue is shown as it is: another version of the product may have stored it."""
    if isinstance(reason, str):
        return reason_words(reason)
    if reason["code"] in WORDED_ABOVE:
        return WORDED_ABOVE[reason["code"]](reason)
    if reason["code"] not in REASONS:
        return str(reason["code"])
    return str(REASONS[reason["code"]]) % {name: _shown(name, value) for name, value in with_counts(reason).items()}


def membership_reason(error: str | None, too_old: datetime | None = None) -> str:
    """Why the members of a group are unknown. `error`: as the group stores it; None where no broker was asked yet.
    `too_old`: when all brokers last said who they are, where that was too long ago."""
    if error is None and too_old is not None:
        return coded_reason(AlertEvidence.MEMBERS_NOT_SINCE, since=iso(too_old))
    return stored_words(error) or coded_reason(ReasonCode.MEMBERS_NOT_ASKED)


def members_not_since(at: datetime) -> str:
    return str(REASONS[AlertEvidence.MEMBERS_NOT_SINCE]) % {"since": when(at)}


def queues_not_since(owner: str, at: datetime) -> str:
    return gettext("%(owner)s has not reported its queues since %(since)s") % {"owner": owner, "since": when(at)}


def reason_words(stored: str) -> StoredWords:
    """What is no code is said as it is: another version of the product may have stored it."""
    if not isinstance(coded := reasons_in(stored)[0], str):
        return StoredWords(_words(coded), stored)
    code, _colon, text = stored.partition(":")
    if text and code in OF_BROKER:
        broker, _colon, error = text.partition(": ")
        return StoredWords(str(OF_BROKER[code]) % {"broker": broker, "error": stored_words(error)}, stored)
    return StoredWords(UNKNOWN_REASONS.get(stored, stored), stored)


def _shown(name: str, value: Any) -> str:
    if value is None:
        return str(_("not known"))
    if isinstance(value, bool):
        return str(_("yes")) if value else str(_("no"))
    if name.endswith("_seconds"):
        return age(value)
    if name.endswith("_bytes"):
        return size(value)
    if isinstance(value, int):
        return counted(name, value)
    if name == "parts":
        return " · ".join(_shown("", one) for one in value)
    if name == "volume_reason":
        return volume_words(value)
    if isinstance(value, list):
        return listed(_shown(name, one) for one in value)
    if name == "unknown_reason":
        return reason_words(value)
    if name == "queue_outcomes":
        return resets.outcome_counts(value)
    if name in ("rule", "what") and value in alerts.BUILT_IN_NAMES:
        return alerts.rule_name_words(value)
    if name == "target_kind":
        return str(resets.KINDS.get(value, value))
    return stored_words(with_plain_times(str(value)))


VOLUME_REASONS: dict[str, str | Promise] = {
    VolumeReason.NOT_RECORDED: _("not recorded then"),
    VolumeReason.PART_MISSING: _("a minute has no scrape, or is not over"),
    VolumeReason.NO_READING_BEFORE: _("no scrape close enough before this window"),
    VolumeReason.OFFSET_UNREAD: _("the offset was not read"),
    VolumeReason.CONSUMER_WENT_BACK: _("the consumer offset went back"),
    VolumeReason.SET_BY_RESET: _("a reset set the consumer offset"),
    VolumeReason.BROKER_WENT_BACK: _("the broker offset went back"),
    VolumeReason.TOPIC_RECREATED: _("the topic was re-created"),
    VolumeReason.FIRST_COMMIT: _("first commit: the start is unknown"),
    VolumeReason.NO_OWN_QUEUE: _("no queue of its own topics was read"),
    VolumeReason.TOPICS_UNREAD: _("its retry and dead-letter topics are unknown yet"),
    VolumeReason.RETRY_UNREAD: _("its retry topic was not read in this window"),
    VolumeReason.DEAD_LETTERS_UNREAD: _("its dead-letter topic was not read in this window"),
    VolumeReason.NOTHING_CONSUMED: _("nothing was consumed"),
    VolumeReason.NO_WINDOW: _("no window was aggregated"),
    VolumeReason.KNOWN_SINCE: _("no data before %(since)s"),
    VolumeReason.KNOWN_OF_MINUTES: _("data for %(minutes)s of %(of)s minutes"),
    VolumeReason.NO_KNOWN_WINDOW: _("no window has data"),
}

AT_LEAST: dict[str, str | Promise] = {
    "into_retry": _("≥ %s into retry"),
    "consumed": _("≥ %s consumed"),
    "into_dlq": _("≥ %s"),
}


def volume_words(stored: str | Mapping[str, Any]) -> str:
    """What is no code is said as it is: another version of the product may have stored it."""
    if isinstance(stored, str):
        return chained(map(_one, stored.split("; ")))
    values = {
        name: f"{value:,}" if isinstance(value, int) else with_plain_times(str(value)) for name, value in stored.items()
    }
    # In the order of the catalogue: not every database keeps that of what it stores.
    numbers = stored["at_least"]
    known = clauses(str(words) % f"{numbers[name]:,}" for name, words in AT_LEAST.items() if name in numbers)
    return labelled(VOLUME_REASONS[stored["code"]] % values, known)


def _one(code: str) -> str:
    return str(VOLUME_REASONS[code]) if code in VOLUME_REASONS else reason_words(code)
