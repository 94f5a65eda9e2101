"""Whether a channel is told of an incident's firing."""

from consumers.alerts.rules.selection import Selection
from consumers.alerts.subjects import Subject
from consumers.models import Channel, Incident


def takes(channel: Channel, incident: Incident) -> bool:
    """Severity, rule and selection; empty is everything. `rules` of the channel may have been fetched before."""
    if not channel.enabled or (channel.severities and incident.severity not in channel.severities):
        return False
    rules = {rule.pk for rule in channel.rules.all()}
    if rules and incident.rule_id not in rules:
        return False
    selection = Selection(channel.cluster, channel.group_pattern, "", channel.labels)
    return selection.takes(Subject.of_incident(incident), incident.labels)
