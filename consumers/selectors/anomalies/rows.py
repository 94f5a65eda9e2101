"""What is wrong in a group, beyond its state: named, with its numbers and what to do."""

from dataclasses import dataclass, field
from datetime import datetime

from consumers.selectors.public import answer, public


@answer("What is wrong beyond the state. Without a topic: about the group as a whole.")
@dataclass(frozen=True)
class Anomaly:
    """`name` is stable. Without a topic it is about the group as a whole; else about `queue_ids` of one topic on one
    broker. `since` is null where nobody saw it begin, with the reason in `unknown`.
    """

    name: str = field(metadata=public("Stable; docs/anomalies.md lists them"))
    topic: str | None
    broker: str | None
    queue_ids: tuple[int, ...]
    since: datetime | None
    sentence: str
    cure: str
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        return self.name.replace("_", " ")
