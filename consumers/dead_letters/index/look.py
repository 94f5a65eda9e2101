"""One look into the dead letters of groups: their brokers are asked, rows are brought up. Changes nothing on a broker.

Groups take turns, so that one with many letters leaves calls to the others.
"""

from dataclasses import dataclass
from datetime import datetime

from consumers.errands.wires import connected, masters
from consumers.models import Cluster, ConsumerGroup
from consumers.polling.registration.access import NoAccess
from consumers.polling.wire import Wire

from .due import due_groups
from .places import Calls
from .read_group import Asked, GroupRead, read_group
from .record import indexed_of, record
from .rules import LookRules

LEAST_TURN = 8


@dataclass(frozen=True)
class Looked:
    """What a look cost and found. `waiting`: groups that another run goes on with."""

    groups: int
    waiting: int
    letters: int
    calls: int


def look_into(cluster: Cluster, group: ConsumerGroup | None, rules: LookRules, now: datetime) -> Looked:
    """Into one group's dead letters, or into those of every group that is due. One at a time for a cluster."""
    groups = due_groups(cluster, rules, now) if group is None else [group]
    if not groups:
        return Looked(0, 0, 0, 0)
    try:
        wire = connected(cluster)
    except NoAccess as reason:
        brokers = cluster.brokers.filter(broker_id=0).values_list("name", flat=True)
        unread = GroupRead(errors=dict.fromkeys(brokers, str(reason)))
        for one in groups:
            record(one, unread, now)
        return Looked(len(groups), 0, 0, 0)
    asked = Asked(masters(cluster, wire), rules.deadline_seconds)
    run = _Run(wire, asked, rules, Calls(rules.calls), now)
    waiting = list(groups)
    while waiting and run.calls.left:
        most = max(LEAST_TURN, run.calls.left // len(waiting))
        waiting = [one for one in waiting if not run.turn(one, most)]
    return Looked(len(groups), len(waiting), run.letters, rules.calls - run.calls.left)


@dataclass
class _Run:
    wire: Wire
    asked: Asked
    rules: LookRules
    calls: Calls
    now: datetime
    letters: int = 0

    def turn(self, group: ConsumerGroup, most: int) -> bool:
        """Whether the group needs no other."""
        if not self.calls.left:
            return False
        reading = read_group(self.asked, group.name, indexed_of(group), self.rules.kept, self.calls.turn(most))
        read = self.wire.run(reading)
        record(group, read, self.now)
        self.letters += sum(len(queue.letters) for queue in read.queues.values())
        return read.is_whole
