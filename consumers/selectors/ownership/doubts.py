"""What leaves the ownership of a group's queues unknown over a range of time, gathered once for all of them."""

from dataclasses import dataclass
from datetime import datetime

from consumers.models import ConsumerGroup

from .claims import Claims
from .listed import Listed
from .patience import Patience, patience_of
from .queues import OwnableQueue
from .segments import Doubts
from .silent import silent_stretches
from .stretches import Stretch, in_a_row
from .undue import not_there, unsubscribed
from .unread import unread_stretches


@dataclass
class GroupDoubts:
    since: datetime
    until: datetime
    listed: Listed
    unread: list[Stretch]
    silent: list[Stretch]
    patience: Patience

    def __post_init__(self) -> None:
        self._of_topics: dict[str, Doubts] = {}

    @classmethod
    def of(
        cls, group: ConsumerGroup, claims: Claims, since: datetime, until: datetime, ownerless: str | None
    ) -> "GroupDoubts":
        """`claims`: all of the group in that range; `ownerless`: why its queues need no owner at all. Six queries."""
        listed = Listed.of(group, since, until)
        patience = patience_of(group, listed.silent)
        unread = unread_stretches(group, since, until, patience.length)
        silent = silent_stretches(group, listed, claims, since, until, patience)
        if ownerless is not None:
            silent = [Stretch(since, until, ownerless)]
        return cls(since, until, listed, unread, silent, patience)

    def of_queue(self, queue: OwnableQueue) -> Doubts:
        of_topic = self._of_topic(queue.topic)
        absent = list(not_there(queue, self.since, self.until))
        return of_topic._replace(silent=in_a_row([*of_topic.silent, *absent])) if absent else of_topic

    def _of_topic(self, topic: str) -> Doubts:
        if topic not in self._of_topics:
            undue = unsubscribed(self.listed, topic, self.since, self.until)
            self._of_topics[topic] = Doubts(self.unread, in_a_row([*undue, *self.silent]), self.patience)
        return self._of_topics[topic]
