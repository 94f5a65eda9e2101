"""Whether a channel is notified of a firing incident."""

from dataclasses import dataclass

from consumers.alerts.rules.selection import Selection
from consumers.alerts.subjects import Subject
from consumers.models import Channel, Incident


@dataclass(frozen=True)
class Taking:
    """Filter of one channel by severity, rule and selection; an empty filter passes everything. Made once for many
    incidents.
    """

    enabled: bool
    severities: frozenset[str]
    rules: frozenset[int]
    selection: Selection

    @classmethod
    def of(cls, channel: Channel) -> "Taking":
        """`rules` of the channel may be prefetched."""
        return cls(
            enabled=channel.enabled,
            severities=frozenset(channel.severities),
            rules=frozenset(rule.pk for rule in channel.rules.all()),
            selection=Selection(channel.cluster, channel.group_pattern, "", channel.labels),
        )

    def takes(self, incident: Incident) -> bool:
        if not self.enabled or (self.severities and incident.severity not in self.severities):
            return False
        if self.rules and incident.rule_id not in self.rules:
            return False
        return self.selection.takes(Subject.of_incident(incident), incident.labels)


def takes(channel: Channel, incident: Incident) -> bool:
    return Taking.of(channel).takes(incident)
