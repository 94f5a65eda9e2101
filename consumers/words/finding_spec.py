"""How a finding is declared: its severity, its check, and its words.

A sentence names the finding's parameters. `consumers.queries.findings` formats them; without a sentence, a finding is
its title with its brokers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise

from consumers.vocabulary.findings import FindingCheck, FindingSeverity, FindingSubject


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
