"""Messages that members have popped and not acknowledged. Offsets advance on pop, so a lag says nothing of them.

Each member counts its own. What members that are gone have popped comes back later, and nobody counts it until then.
"""

from dataclasses import dataclass

from consumers.models import Client, ConsumerGroup

ANY_QUEUE = -1
NOBODY = "no member is there to say what it has popped"
NOT_TOLD = "not every member has said what it has popped"
PULLS = "its members do not pop"
WITH_ITS_TOPIC = "counted with the topic that it is the retry topic of"


@dataclass(frozen=True)
class Unacked:
    """`reason` says why nothing is known of any queue; else `counts` has them by topic, broker and queue id.

    A client that pops from any queue of a topic counts per broker, under the queue id -1.
    """

    reason: str | None
    counts: dict[tuple[str, str, int], int]

    @classmethod
    def of(cls, group: ConsumerGroup) -> "Unacked":
        """One query."""
        present = Client.objects.filter(group=group, gone_by=None)
        said = [None if error else queues for queues, error in present.values_list("pop_queues", "running_info_error")]
        if not said:
            return cls(NOBODY, {})
        if any(queues is None for queues in said):
            return cls(NOT_TOLD, {})
        counts: dict[tuple[str, str, int], int] = {}
        for queue in (queue for queues in said for queue in queues or ()):
            key = queue["topic"], queue["broker"], queue["queue_id"]
            counts[key] = counts.get(key, 0) + queue["wait_ack_count"]
        return cls(None if counts else PULLS, counts)

    def of_queue(self, topic: str, broker: str, queue_id: int, kind: str) -> tuple[int | None, str]:
        """The count, and why it is null where it is."""
        if self.reason is not None:
            return None, self.reason
        if kind == "retry":
            return None, WITH_ITS_TOPIC
        own, shared = self.counts.get((topic, broker, queue_id)), self.counts.get((topic, broker, ANY_QUEUE))
        if shared:
            return None, f"{shared} of {topic} on {broker}, in whichever of its queues"
        if own is None and shared is None:
            return None, "no member pops this queue"
        return own or 0, ""
