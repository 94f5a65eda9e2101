"""The subject of an incident: the site, a cluster, a broker, a group, or a group's part of a topic."""

from dataclasses import dataclass

from consumers.models import Incident, SubjectKind


@dataclass(frozen=True, slots=True)
class Subject:
    """Names that the subject's kind does not have are empty. `group_id` is the row of a known group."""

    kind: SubjectKind
    cluster: str = ""
    broker: str = ""
    group: str = ""
    topic: str = ""
    group_id: int | None = None

    @classmethod
    def of_incident(cls, incident: Incident) -> "Subject":
        return cls(
            SubjectKind(incident.subject_kind),
            cluster=incident.cluster_name,
            broker=incident.broker_name,
            group=incident.group_name,
            topic=incident.topic_name,
            group_id=incident.group_id,
        )

    @property
    def key(self) -> str:
        """A unique key of the subject: neither cluster names nor RocketMQ names contain a '/'."""
        names = [self.cluster, self.broker or self.group, self.topic]
        return ":".join([self.kind, "/".join(name for name in names if name)])

    @property
    def title(self) -> str:
        """The name of the subject on pages."""
        if self.kind == SubjectKind.SITE:
            return "Consumerscope"
        if self.kind == SubjectKind.TOPIC:
            return f"{self.group} on {self.topic}"
        return self.group or self.broker or self.cluster


SITE = Subject(SubjectKind.SITE)
