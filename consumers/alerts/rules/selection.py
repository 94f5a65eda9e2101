"""Which subjects rules, silences, channels and overrides select. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from consumers.alerts.subjects import Subject

_NO_LABELS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Selection:
    """An empty selection selects everything. Patterns have * and ?, and are case-sensitive.

    A group pattern selects groups and their parts of topics; a topic selects only these parts; labels select only
    subjects that have all of them.
    """

    cluster: str = ""
    group_pattern: str = ""
    topic: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Any) -> "Selection":
        """The selection of a rule, a silence, or a channel, which has no topic."""
        return cls(row.cluster, row.group_pattern, getattr(row, "topic", ""), row.labels)

    def takes(self, subject: Subject, labels: Mapping[str, str] = _NO_LABELS) -> bool:
        """`labels`: those that notes give the subject."""
        return (
            _fits(self.cluster, subject.cluster)
            and _fits(self.group_pattern, subject.group)
            and _fits(self.topic, subject.topic)
            and (not self.labels or all(labels.get(name) == value for name, value in self.labels.items()))
        )


def _fits(pattern: str, name: str) -> bool:
    """A name that the subject does not have matches the empty pattern only."""
    return not pattern or (name != "" and (pattern == name or fnmatchcase(name, pattern)))
