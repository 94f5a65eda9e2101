"""Whom rules, silences, channels and overrides select. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from consumers.alerts.subjects import Subject

_NO_LABELS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Selection:
    """What is empty selects everything. Patterns have * and ?, and are compared with case.

    With a group pattern only groups are taken, and their parts of topics; with a topic only these parts; with labels
    only what bears all of them.
    """

    cluster: str = ""
    group_pattern: str = ""
    topic: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Any) -> "Selection":
        """Of a rule, a silence or a channel, which knows no topics."""
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
    """A name that the subject does not have fits nothing but the empty pattern."""
    return not pattern or (name != "" and (pattern == name or fnmatchcase(name, pattern)))
