"""Words of findings of ownership, and how a finding is declared."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.findings import FindingCheck, FindingCode, FindingSeverity, FindingSubject


# How a finding is declared: its severity, its check, and its words.
#
# A sentence names the finding's parameters. `consumers.queries.findings` formats them; without a sentence, a finding
# is its title with its brokers.
@dataclass(frozen=True, kw_only=True)
class LogText:
    """A text to search for in a log file. `%(group)s` is the group's name."""

    file: str
    text: str


OF_BROKERS, OF_MEMBERS = "broker.log", "rocketmq_client.log"


@dataclass(frozen=True, kw_only=True)
class FindingSpec:
    """`severity`: the usual one. `notes`: more sentences, by the names that the parameter `notes` lists."""

    check: FindingCheck
    severity: FindingSeverity
    title: Promise
    help: Promise
    remedy: Promise
    sentence: Promise | str | None = None
    notes: Mapping[str, Promise] = field(default_factory=dict)
    subject: FindingSubject = FindingSubject.GROUP
    log: LogText | None = None

    @property
    def anchor(self) -> str:
        """The section of the documents that explains it."""
        return f"findings.md#{self.check.value.replace('_', '-')}"


CRITICAL, WARNING = FindingSeverity.CRITICAL, FindingSeverity.WARNING
UNKNOWN, INFO = FindingSeverity.UNKNOWN, FindingSeverity.INFO


NOT_LISTED = LogText(file=OF_MEMBERS, text="[BUG] ConsumerGroup: %(group)s The consumerId: ")
REBALANCED = LogText(file=OF_MEMBERS, text="client rebalanced result changed")
NO_ONE_CONSUMES = _("No member consumes these queues: their lag grows.")

OWNERSHIP: dict[FindingCode, FindingSpec] = {
    FindingCode.DUPLICATE_CLIENT_IDS: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Duplicate client ids"),
        sentence=_("Several processes share a client id: %(connections)s."),
        help=_("Processes with one client id take the same queues and leave others to nobody."),
        remedy=_("Give each process an instance name of its own: the id is its address, @ and that name."),
        notes={
            "reconnecting": _("Or one reconnected, and the broker has yet to drop what is left of its old connection."),
            "same_file": _("On one host they write the same file of offsets."),
            "same_share": _("Each computes its share by the same place in the list."),
        },
    ),
    FindingCode.BROKERS_DIFFER: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Brokers list different members"),
        sentence=_("The brokers of %(topics)s list different members: %(missing)s. Each client asks one of them."),
        help=_("Members that ask different brokers compute different shares: queues have two owners or none."),
        remedy=_(
            "Find out why the members cannot reach that broker; members without a topic on it do not register there."
        ),
        log=NOT_LISTED,
    ),
    FindingCode.STRATEGIES_DIFFER: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Members use different strategies"),
        sentence=_("Members share queues by different strategies: %(strategies)s. Each computes its share by its own."),
        help=_("Shares that are computed differently overlap or leave gaps."),
        remedy=_("Start all members of the group with the same strategy."),
        log=LogText(file=OF_MEMBERS, text="client rebalanced result changed. allocateMessageQueueStrategyName="),
    ),
    FindingCode.SUBSCRIPTIONS_DIFFER: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Members' subscriptions differ"),
        sentence=_(
            "Members have different subscriptions: %(topics)s. Brokers filter for all members by the newest one."
        ),
        help=_("A broker keeps one subscription per group and topic: messages that others want are skipped."),
        remedy=_("Give all members the same subscriptions, or each subscription a group of its own."),
        notes={
            "shared": _(
                "Queues are shared among all members, and an owner skips messages that it does not subscribe to."
            )
        },
        log=LogText(file=OF_BROKERS, text="subscription changed, "),
    ),
    FindingCode.ORDERLY_AND_CONCURRENT: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Orderly and concurrent members in one group"),
        sentence=_(
            "Orderly and concurrent members in one group: %(listeners)s. Concurrent ones take no locks: order is lost."
        ),
        help=_("A concurrent member consumes a queue without its lock, out of order."),
        remedy=_("Register the same kind of listener in all members, or give each kind a group of its own."),
    ),
    FindingCode.SETTINGS_DIFFER: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=WARNING,
        title=_("Members' settings differ"),
        sentence=_("Members differ in %(setting)s: %(values)s."),
        help=_("How a message is consumed depends on the member that owns its queue."),
        remedy=_("Start all members of the group with the same setting."),
        notes={
            "messageModel": _("Effect: some share the queues, others consume every queue."),
            "PROP_CONSUME_TYPE": _("Effect: some push, others pull: they compute shares for each other."),
            "consumeFromWhere": _("Effect: where a queue without a committed offset starts depends on the member."),
            "maxReconsumeTimes": _("Effect: the number of retries depends on the member."),
            "consumeMessageBatchMaxSize": _("Effect: the batch size depends on the member."),
        },
    ),
    FindingCode.UNOWNED_UNKNOWN_OWNER: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Queues without an owner, expected owner unknown"),
        sentence=_("Not consumed: %(unowned)s. The expected owner is unknown: %(why)s."),
        help=NO_ONE_CONSUMES,
        remedy=_("Search the members' logs for the line: it names a member that the broker does not list."),
        log=NOT_LISTED,
    ),
    FindingCode.UNOWNED_NO_ROOM: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Queues without an owner, machine room not named"),
        sentence=_(
            "Not consumed: %(unowned)s. Members share queues by machine room: queues of brokers in a room that no "
            "member names are assigned to nobody."
        ),
        help=NO_ONE_CONSUMES,
        remedy=_("Name every room with queues in the members' strategy."),
    ),
    FindingCode.UNOWNED_LOCK_HELD: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=INFO,
        title=_("Queues without an owner, lock of a member that left"),
        sentence=_(
            "Not consumed: %(unowned)s. %(expected)s waits for the lock: a broker retains the locks of a member that "
            "left for 60 s."
        ),
        help=_("Orderly members start on a queue once they have its lock."),
        remedy=_("Wait for a minute."),
    ),
    FindingCode.UNOWNED_NO_LOCK: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Queues without an owner, lock not granted"),
        sentence=_(
            "Not consumed: %(unowned)s. Assigned to %(expected)s, which does not own it. The broker may not have "
            "granted the lock."
        ),
        help=NO_ONE_CONSUMES,
        remedy=_("Search the log of %(expected)s for the line. A process outside the group may hold the lock."),
        log=LogText(file=OF_MEMBERS, text="doRebalance, %(group)s, add a new mq failed"),
    ),
    FindingCode.UNOWNED_NO_START: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Queues without an owner, not started"),
        sentence=_(
            "Not consumed: %(unowned)s. Assigned to %(expected)s, which does not own it. It may have failed to read "
            "its start offset."
        ),
        help=NO_ONE_CONSUMES,
        remedy=_(
            "Search the log of %(expected)s for the line. If it is missing, find out why the member does not rebalance."
        ),
        log=LogText(file=OF_MEMBERS, text="doRebalance, %(group)s, add new mq failed"),
    ),
    FindingCode.DOUBLY_OWNED: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Queues with two owners"),
        sentence=_("Consumed by two: %(doubly_owned)s, by %(owners)s. Their messages are consumed twice."),
        help=_("Two members consume the same queue: each message is delivered twice."),
        remedy=_(
            "Compare the logs of %(owners)s: the numbers of clients and queues in the line show which member is wrong."
        ),
        log=REBALANCED,
    ),
    FindingCode.UNEXPECTED_OWNER: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=WARNING,
        title=_("Queues not with their expected owner"),
        sentence=_("%(holder)s owns queues that are assigned to %(expected)s: %(queues)s."),
        help=_("A member counts other clients or queues than the brokers list."),
        remedy=_(
            "Search the log of %(holder)s for the line. It contains the numbers of clients and queues that the member "
            "counts."
        ),
        log=REBALANCED,
    ),
    FindingCode.LOCK_LOST: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=CRITICAL,
        title=_("Lock lost"),
        sentence=_(
            "%(client_id)s has lost the lock of %(queues)s: it renewed it %(renewed_seconds)s before it answered."
        ),
        help=_("An orderly member consumes a queue only while the queue is locked for it."),
        remedy=_(
            "Search the log of %(client_id)s for the line; while the lock is lost it consumes nothing of these queues."
        ),
        log=LogText(file=OF_MEMBERS, text="the message queue locked Failed, Group: %(group)s"),
    ),
    FindingCode.SILENT_MEMBER: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=WARNING,
        title=_("A member does not answer"),
        sentence=_("%(client_id)s has not reported its queues for %(silent_seconds)s: %(error)s."),
        help=_("The member is connected, but does not report what it owns."),
        remedy=_("Check whether the member hangs: it is connected, so it retains its queues."),
        notes={"never": _("It has never reported them.")},
    ),
    FindingCode.IDLE_MEMBERS: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=WARNING,
        title=_("Members without a queue"),
        sentence=_("Without a queue: %(client_ids)s (%(idle)s of %(members)s members). %(topics)s."),
        help=_("A queue has one owner: members beyond the number of queues do nothing."),
        remedy=_("Give the topic more queues, or run fewer members."),
    ),
    FindingCode.TOO_FEW_QUEUES: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=INFO,
        title=_("A topic has fewer queues than members"),
        sentence=_("%(topic)s has %(queues)s for %(members)s members: some own none of it."),
        help=_("Members that own no queue of the topic do not speed it up."),
        remedy=_("If the topic lags, give it more queues; more members do not help."),
    ),
    FindingCode.SETTLING: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=INFO,
        title=_("Settling"),
        sentence=_("Its members, their queues or subscriptions last changed %(changed_seconds)s ago."),
        help=_("While a group changes, owners are not compared with expected owners."),
        remedy=_("Nothing: it is compared once two complete scrapes agree."),
    ),
    FindingCode.OWNERSHIP_UNKNOWN: FindingSpec(
        check=FindingCheck.OWNERSHIP,
        severity=UNKNOWN,
        title=_("Ownership unknown"),
        sentence=_("Ownership is not checked: %(why)s."),
        help=_("Findings about owners may exist: they could not be checked."),
        remedy=_("Open the Ownership tab of the group: it says what was not read."),
    ),
}
