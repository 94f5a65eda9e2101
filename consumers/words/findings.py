"""All findings: a new one is a code, and one declaration in the specs of its check."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.findings import FindingCheck, FindingCode, FindingSeverity, FindingSubject
from consumers.words.finding_ownership import (
    CRITICAL,
    INFO,
    OF_BROKERS,
    OWNERSHIP,
    UNKNOWN,
    WARNING,
    FindingSpec,
    LogText,
)

SEVERITIES: dict[FindingSeverity, Promise] = {
    FindingSeverity.CRITICAL: _("critical"),
    FindingSeverity.WARNING: _("warning"),
    FindingSeverity.UNKNOWN: _("unknown"),
    FindingSeverity.INFO: _("info"),
}
CHECKS: dict[FindingCheck, Promise] = {
    FindingCheck.OWNERSHIP: _("Ownership"),
    FindingCheck.RETRIES: _("Retry health"),
    FindingCheck.DELAY_LEVELS: _("Delay levels"),
    FindingCheck.OFFSETS: _("Offsets"),
    FindingCheck.OFFSET_FILES: _("Offset files"),
    FindingCheck.ALL: _("All checks"),
}
SUBJECTS: dict[FindingSubject, Promise] = {
    FindingSubject.GROUP: _("Group"),
    FindingSubject.BROKER: _("Broker"),
    FindingSubject.FILE: _("File"),
    FindingSubject.CLUSTER: _("Cluster"),
}
# Values of parameters that are codes.
VALUES: dict[str, Promise] = {
    "by_broker": _("assigned by a broker"),
    "orderly": _("orderly"),
    "concurrent": _("concurrent"),
    "nobody": _("nobody"),
}
# Why owners are not known, by the code of the parameter `why`.
WHY: dict[str, Promise] = {
    "not checked": _("no poll has asked all members yet"),
    "not listed": _("not every broker has reported the group's members"),
    "silent": _("a member has not reported its subscriptions"),
    "not heard": _("a member has not answered, and a queue has no known owner or two"),
    "connections": _("the brokers that list a member are not known"),
    "models": _("some members broadcast, others do not"),
    "proxy": _("a member is connected to a proxy, which lists members of its own"),
    "not simulable": _("members share queues by a strategy that is not RocketMQ's own"),
    "strategies": _("members use different strategies"),
    "lists": _("brokers list different members"),
    "given": _("a broker assigns the queues"),
    "configuration": _("the configuration of a topic was not read"),
    "ring": _("members use another hash ring than the default"),
    "not computed": _("no member computes it as its own"),
}


RETRIES: dict[FindingCode, FindingSpec] = {
    FindingCode.RETRIES_DISCARDED: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=CRITICAL,
        title=_("Failed messages are discarded"),
        help=_("With retryQueueNums 0, a broker answers success and drops a failed message."),
        remedy=_("Set retryQueueNums of the group to 1 or more (mqadmin updateSubGroup -q 1, with its other values)."),
    ),
    FindingCode.RETRIES_NOT_ACCEPTED: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=CRITICAL,
        title=_("No broker takes failed messages"),
        help=_("Members retain failed messages, retry them every 5 s and do not commit their offsets."),
        remedy=_("Open one broker that the group's topics are on, start its master, or give it the group."),
    ),
    FindingCode.GROUP_MISSING: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=CRITICAL,
        title=_("Group missing on a broker"),
        help=_("A broker gives an unknown group no messages, and takes none back."),
        remedy=_("Create the group there (mqadmin updateSubGroup), or enable autoCreateSubscriptionGroup."),
    ),
    FindingCode.RETRY_QUEUES_UNREAD: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=CRITICAL,
        title=_("Retry queues are not read"),
        help=_(
            "Retries are spread over more queues than the retry topic can be read from: the others never come back."
        ),
        remedy=_("Give the retry topic as many read queues as retryQueueNums (mqadmin updateTopic -r -w)."),
    ),
    FindingCode.RETRY_TOPIC_UNREADABLE: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=CRITICAL,
        title=_("Retry topic not readable"),
        help=_("What is retried there never comes back."),
        remedy=_("Set the permission of the retry topic to 6 (mqadmin updateTopicPerm -p 6)."),
    ),
    FindingCode.RETRY_TOPIC_UNWRITABLE: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=WARNING,
        title=_("Retry topic not writable"),
        help=_("Failed messages are not taken back there: they go to another broker, or stay with the member."),
        remedy=_("Set the permission of the retry topic to 6 (mqadmin updateTopicPerm -p 6)."),
    ),
    FindingCode.CONSUMPTION_DISABLED: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=INFO,
        title=_("Consumption disabled by configuration"),
        help=_("Brokers give the group nothing while consumeEnable is false."),
        remedy=_("Set consumeEnable to true when the group should consume again."),
    ),
    FindingCode.DLQ_UNREADABLE: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=WARNING,
        title=_("DLQ not readable"),
        help=_("Dead-letter messages cannot be inspected or resent."),
        remedy=_("Set the permission of the dead-letter topic to 6 (mqadmin updateTopicPerm -p 6)."),
    ),
    FindingCode.BROKER_TAKES_NONE_BACK: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=WARNING,
        title=_("A broker takes no failed messages back"),
        help=_("Its failed messages are retried through another broker, where one accepts them."),
        remedy=_("Open the broker when what it was closed for is done, or start its master."),
    ),
    FindingCode.NOT_ROUTED: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=INFO,
        title=_("Name servers route no writes to a broker"),
        help=_("Clients cannot write copies of failed messages there."),
        remedy=_("Run mqadmin addWritePerm on every name server."),
    ),
    FindingCode.ORIGINALS_DELETED: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=INFO,
        title=_("Held messages are deleted on their broker"),
        help=_("A broker cannot take back a message that it no longer has: members write copies instead."),
        remedy=_("Let members catch up before messages expire, or retain messages longer (fileReservedTime)."),
    ),
    FindingCode.NOT_RETRIED: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=INFO,
        title=_("Failed messages are not retried"),
        help=_(
            "Broadcasting groups only log a failed message; pull consumers retry only what the application sends back."
        ),
        remedy=_("Handle failures in the listener, or consume as CLUSTERING with a push consumer."),
    ),
    FindingCode.CONSUME_TIMEOUT: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=WARNING,
        title=_("Messages run into consumeTimeout"),
        help=_("A message is sent back while its listener still runs: it is consumed twice."),
        remedy=_("Let the listener give up earlier, or raise consumeTimeout of the members."),
    ),
    FindingCode.BATCH_RETRIED: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=INFO,
        title=_("A failed message retries its whole batch"),
        help=_("One failed message sends back all messages of its batch, also those that succeeded."),
        remedy=_("Set consumeMessageBatchMaxSize to 1, or set ackIndex to the last message that succeeded."),
    ),
    FindingCode.RETRIED_IN_PLACE: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=INFO,
        title=_("A failed message blocks its queue"),
        help=_("Orderly members retry a failed message in place; other messages of the queue wait."),
        remedy=_("Set maxReconsumeTimes of the members: messages that fail more often are dead-lettered."),
    ),
    FindingCode.ACKNOWLEDGED_EARLY: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=INFO,
        title=_("Offsets advance before the result is known"),
        help=_("Groups that pop advance offsets when a message is delivered."),
        remedy=_("Evaluate such a group by its unacknowledged messages, not by its lag alone."),
    ),
    FindingCode.RETRY_CHECKS_UNKNOWN: FindingSpec(
        check=FindingCheck.RETRIES,
        severity=UNKNOWN,
        title=_("Retry health checks unknown"),
        sentence=_("Not checked: %(checks)s. A broker or member did not report what they need."),
        help=_("Failing checks may exist: what they need was not read."),
        remedy=_("Open the Retries & DLQ tab of the group: it says what was not read."),
    ),
}
SPECS: dict[FindingCode, FindingSpec] = {
    **OWNERSHIP,
    **RETRIES,
    FindingCode.LATE_DELAY_LEVELS: FindingSpec(
        check=FindingCheck.DELAY_LEVELS,
        severity=CRITICAL,
        subject=FindingSubject.BROKER,
        title=_("Delayed messages are delivered late"),
        sentence=_(
            "%(broker)s delivers delayed messages late: the first of level %(worst_level)s was due %(overdue_seconds)s "
            "before the newest scrape. Late levels: %(levels)s, with %(waiting_messages)s."
        ),
        help=_("Retries wait longer than their delay, and no lag shows them."),
        remedy=_(
            "Check whether the broker is the master and can store messages (disk, load), and read its log. A delayed "
            "message is delivered by storing it once more; messages after it are delayed until that succeeds."
        ),
        log=LogText(file=OF_BROKERS, text="ScheduleMessageService, executeOnTimeUp exception"),
    ),
    FindingCode.DELAY_LEVELS_UNKNOWN: FindingSpec(
        check=FindingCheck.DELAY_LEVELS,
        severity=UNKNOWN,
        subject=FindingSubject.BROKER,
        title=_("Delay levels unknown"),
        sentence=_("The delay levels of %(broker)s are unknown."),
        help=_("Retries may be delivered late: the levels could not be checked."),
        remedy=_("Open the Clusters page: it says why the broker is not read."),
    ),
    FindingCode.LOST_OFFSETS: FindingSpec(
        check=FindingCheck.OFFSETS,
        severity=CRITICAL,
        title=_("Committed offsets are lost"),
        sentence=_("Offset lost: %(queues)s on %(brokers)s."),
        help=_("Members that start now begin where ConsumeFromWhere says: messages are skipped or redelivered."),
        remedy=_("Reset the group to its past position before a member starts, or acknowledge the loss."),
    ),
    FindingCode.LOST_OFFSETS_UNKNOWN: FindingSpec(
        check=FindingCheck.OFFSETS,
        severity=UNKNOWN,
        subject=FindingSubject.BROKER,
        title=_("Lost offsets unknown"),
        sentence=_("Unknown whether %(broker)s lost offsets."),
        help=_("Committed offsets may be gone: the broker is not read."),
        remedy=_("Open the Clusters page: it says why the broker is not read."),
    ),
    FindingCode.OFFSET_FILE: FindingSpec(
        check=FindingCheck.OFFSET_FILES,
        severity=WARNING,
        subject=FindingSubject.FILE,
        title=_("Finding in an offset file"),
        sentence="%(file_finding)s",
        help=_("Offsets in a file are wrong or old, or contradict the broker's memory."),
        remedy=_("Read the finding before you restore offsets from this file."),
        notes={"more": _("%(others)s more of this kind.")},
    ),
    FindingCode.OFFSET_FILE_UNREAD: FindingSpec(
        check=FindingCheck.OFFSET_FILES,
        severity=WARNING,
        subject=FindingSubject.FILE,
        title=_("Offset file not read"),
        sentence="%(file_problem)s",
        help=_("The file's offsets, and findings about them, are unknown."),
        remedy=_("Do what the reason says, or name other files (manage.py cluster add --offset-files)."),
    ),
    FindingCode.NOT_CHECKED: FindingSpec(
        check=FindingCheck.ALL,
        severity=UNKNOWN,
        subject=FindingSubject.CLUSTER,
        title=_("Not checked"),
        sentence="",
        help=_("Findings may exist: these checks are late or have not run."),
        remedy=_("Check that the general worker and beat run."),
        notes={
            "groups": _("%(groups)s not checked."),
            "brokers": _("Brokers, committed offsets and offset files not checked."),
            "late": _("Findings are as of the last check."),
            "unscraped": _("No group or broker of the cluster was scraped yet."),
        },
    ),
}


def _of(check: FindingCheck) -> frozenset[FindingCode]:
    return frozenset(code for code, spec in SPECS.items() if spec.check is check)


# Codes that are unknown while a finding stands; retry_checks_unknown names its own.
_WHILE_CHANGING = {FindingCode.DUPLICATE_CLIENT_IDS, FindingCode.BROKERS_DIFFER, FindingCode.SILENT_MEMBER}
COVERS: dict[str, frozenset[FindingCode]] = {
    FindingCode.SETTLING.value: _of(FindingCheck.OWNERSHIP) - _WHILE_CHANGING - {FindingCode.SETTLING},
    FindingCode.OWNERSHIP_UNKNOWN.value: _of(FindingCheck.OWNERSHIP) - {FindingCode.OWNERSHIP_UNKNOWN},
    FindingCode.DELAY_LEVELS_UNKNOWN.value: frozenset({FindingCode.LATE_DELAY_LEVELS}),
    FindingCode.LOST_OFFSETS_UNKNOWN.value: frozenset({FindingCode.LOST_OFFSETS}),
    FindingCode.OFFSET_FILE_UNREAD.value: frozenset({FindingCode.OFFSET_FILE}),
}
TITLES: dict[FindingCode, Promise] = {code: spec.title for code, spec in SPECS.items()}
