"""Findings of retry health checks."""

from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.findings import FindingCheck, FindingCode

from .finding_spec import CRITICAL, INFO, UNKNOWN, WARNING, FindingSpec

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
        remedy=_("Set consumeEnable to true when the group shall consume again."),
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
        remedy=_("Set consumeMessageBatchMaxSize to 1, or tell by ackIndex up to where a batch succeeded."),
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
        remedy=_("Open the Retries tab of the group: it says what was not read."),
    ),
}
