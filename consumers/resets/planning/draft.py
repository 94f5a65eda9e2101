"""A plan in memory: chosen queues, what their masters say, targets, ways and warnings. Nothing is written."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.conf import settings
from django.utils.translation import gettext as _

from consumers.errands.ports import Ports
from consumers.models import ConsumerGroup, Reset, ResetKind, ResetMethod, ResetQueue
from consumers.resets.facts import GroupFacts, QueueFacts
from consumers.resets.methods import LeftOut, method_of, refusals_of_group, together
from consumers.resets.past import given_for
from consumers.resets.places import check_number
from consumers.resets.wish import QueueKey, ResetRefused

from .choice import choice_of
from .chosen import Chosen, chosen
from .clip import Aim, aim, why_not_clipped
from .gather import gather
from .known import known_of
from .masters import Masters
from .message_times import message_times
from .routes import routes_of
from .rows import Planned, left_out_row, planned_row
from .searches import search
from .targets import OF_THE_PAST, searched_time, target_of
from .warnings import warnings_of

NAMED = 3

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Draft:
    facts: GroupFacts
    rows: list[ResetQueue]
    warnings: list[str]


def draft(reset: Reset, group: ConsumerGroup, ports: Ports, now: datetime, alive: Callable[[], None]) -> Draft:
    """`alive` is called between rounds of calls. Raises ResetRefused."""
    return _Draft(reset, group, ports, now, alive).made()


class _Draft:
    def __init__(
        self, reset: Reset, group: ConsumerGroup, ports: Ports, now: datetime, alive: Callable[[], None]
    ) -> None:
        self._reset, self._group, self._ports, self._now, self._alive = reset, group, ports, now, alive
        self._kind = ResetKind(reset.kind)
        self._masters = Masters(ports)
        self._left_out: dict[QueueKey, str] = {}
        self._warnings: list[str] = []

    def made(self) -> Draft:
        picked = self._picked()
        known = known_of(self._group)
        facts = self._run(lambda: gather(self._ports, self._group.name, picked.keys, known, self._now, self._masters))
        group = self._group
        if against := refusals_of_group(
            facts, last_message_model=group.message_model, outside_store=group.outside_store
        ):
            raise ResetRefused(" ".join(against))
        aims = self._aims(facts)
        if not self._reset.clip and (outside := why_not_clipped(list(aims.values()))):
            raise ResetRefused(outside)
        methods = self._methods(facts, aims, picked)
        self._check_something_moves(any(way != ResetMethod.NOTHING for way in methods.values()))
        rows = self._rows(facts, aims, methods)
        return Draft(facts, rows, [*warnings_of(self._reset, group, facts, rows), *self._warnings])

    def _run(self, work: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
        self._alive()
        return self._ports.wire.run(work())

    def _picked(self) -> Chosen:
        choice = choice_of(self._reset, self._group)
        picked = chosen(choice, self._run(lambda: routes_of(self._ports, choice.topics)))
        if picked.refusals:
            raise ResetRefused(" ".join(picked.refusals[:NAMED]))
        if not picked.keys and not picked.left_out:
            raise ResetRefused(_("There is no queue to reset: choose the topics."))
        check_number(len(picked.keys) + len(picked.left_out))
        self._left_out |= picked.left_out
        return picked

    def _aims(self, facts: GroupFacts) -> dict[QueueKey, Aim]:
        """Queues that could not be read, or that have no target, go to those that are left out."""
        read = {key: queue for key, queue in facts.queues.items() if queue.error is None}
        self._left_out |= {
            key: _("The queue cannot be read: %s") % queue.error for key, queue in facts.queues.items() if queue.error
        }
        found = self._found(read)
        wanted = {key: target_of(self._kind, self._reset.value, queue, found) for key, queue in read.items()}
        self._left_out |= {key: target for key, target in wanted.items() if isinstance(target, str)}
        return {key: aim(read[key], target) for key, target in wanted.items() if isinstance(target, int)}

    def _found(self, read: Mapping[QueueKey, QueueFacts]) -> Mapping[QueueKey, int | str]:
        if self._kind in OF_THE_PAST:
            self._alive()
            given = given_for(self._reset, list(read), self._ports, self._now)
            self._warnings += given.warnings
            return given.offsets
        at = searched_time(self._kind, self._reset.value, self._now)
        return {} if at is None else self._run(lambda: search(self._masters, read.values(), at))

    def _methods(self, facts: GroupFacts, aims: Mapping[QueueKey, Aim], picked: Chosen) -> dict[QueueKey, ResetMethod]:
        said: dict[QueueKey, ResetMethod | LeftOut] = {key: LeftOut(why) for key, why in self._left_out.items()}
        for key, one in aims.items():
            whole = (key.topic, key.broker) in picked.whole
            said[key] = method_of(self._kind, facts, facts.queues[key], one.target, one.clipped, whole)
        settled = together(said)
        self._left_out |= {key: way.sentence for key, way in settled.items() if isinstance(way, LeftOut)}
        return {key: way for key, way in settled.items() if isinstance(way, ResetMethod)}

    def _check_something_moves(self, moves: bool) -> None:
        if moves:
            return
        if not self._left_out:
            raise ResetRefused(_("Every chosen queue stands at its target already: nothing is to be moved."))
        reasons = list(dict.fromkeys(self._left_out.values()))
        raise ResetRefused(_("No queue can be moved. %s") % " ".join(reasons[:NAMED]))

    def _rows(
        self, facts: GroupFacts, aims: Mapping[QueueKey, Aim], methods: Mapping[QueueKey, ResetMethod]
    ) -> list[ResetQueue]:
        moved = [aims[key] for key in methods]
        times = self._run(lambda: message_times(self._masters, moved, settings.RESET_MESSAGE_TIMES))
        pk = self._reset.pk
        rows = [planned_row(pk, Planned(aims[key], method, times[key])) for key, method in methods.items()]
        rows += [
            left_out_row(pk, key, why, facts.queues.get(key), aims.get(key)) for key, why in self._left_out.items()
        ]
        return sorted(rows, key=lambda row: (row.topic, row.broker, row.queue_id))
