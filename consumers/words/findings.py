"""All findings: a new one is a code, and one declaration in the specs of its check."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.findings import FindingCheck, FindingCode, FindingSeverity, FindingSubject

from .finding_ownership import OWNERSHIP
from .finding_retries import RETRIES
from .finding_spec import CRITICAL, OF_BROKERS, UNKNOWN, WARNING, FindingSpec, LogText

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
        sentence=_("Delay levels of %(broker)s are not known."),
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
        sentence=_("Whether %(broker)s lost offsets is not known."),
        help=_("Committed offsets may be gone: the broker is not read."),
        remedy=_("Open the Clusters page: it says why the broker is not read."),
    ),
    FindingCode.OFFSET_FILE: FindingSpec(
        check=FindingCheck.OFFSET_FILES,
        severity=WARNING,
        subject=FindingSubject.FILE,
        title=_("Finding in an offset file"),
        sentence="%(file_finding)s",
        help=_("What a file says of offsets is wrong, old, or contradicts the broker's memory."),
        remedy=_("Read the finding before you restore offsets from this file."),
        notes={"more": _("%(others)s more of this kind.")},
    ),
    FindingCode.OFFSET_FILE_UNREAD: FindingSpec(
        check=FindingCheck.OFFSET_FILES,
        severity=WARNING,
        subject=FindingSubject.FILE,
        title=_("Offset file not read"),
        sentence="%(file_problem)s",
        help=_("The file's offsets, and findings about them, are not known."),
        remedy=_("Do what the reason says, or name other files (manage.py cluster add --offset-files)."),
    ),
    FindingCode.NOT_CHECKED: FindingSpec(
        check=FindingCheck.ALL,
        severity=UNKNOWN,
        subject=FindingSubject.CLUSTER,
        title=_("Not checked"),
        sentence=_("%(groups)s not checked."),
        help=_("Findings may exist: the checks of these groups are late or have not run."),
        remedy=_("Check that the general worker and beat run."),
        notes={"late": _("Findings are as of the last check.")},
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
