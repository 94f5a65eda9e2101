"""Plans a reset with its cluster's connections; called by the task."""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import transaction

from consumers.jobs.hold import BEAT_SECONDS, Hold, NotHeld, Ports, WithHeartbeat, connected, keep_alive, reading
from consumers.models import ConsumerGroup, Reset, ResetKind, ResetMethod, ResetQueue, ResetStatus
from consumers.polling.registration import NoAccess, WireClosed
from consumers.resets.methods import LeftOut, method_of, refusals_of_group, together
from consumers.resets.request import note_work, refuse_unplanned
from consumers.resets.reset_targets import TARGETS, target_of
from consumers.resets.target_values import QueueKey, ResetRefused, check_number
from consumers.rocketmq.name_server import Route
from consumers.rocketmq.wire.codes import RocketMQError, time_of
from consumers.vocabulary.reasons import stored_reason, stored_reasons
from consumers.vocabulary.resets import PlanReason, ResetAct, RowReason

from .chosen import Chosen, choice_of, chosen
from .gather import NO_MASTER, Masters, gather, known_of
from .queue_plan import (
    Aim,
    GroupSetup,
    Planned,
    QueueOffsets,
    aim,
    amounts_of,
    left_out_row,
    planned_row,
    warnings_of,
    why_not_clipped,
)

# The store time of the first message that a queue's target makes the group consume: one pull for each queue.

AT_THE_END = stored_reason(RowReason.AT_THE_END)
GONE = stored_reason(RowReason.TARGET_MESSAGE_GONE)
NO_TIME = stored_reason(RowReason.TIME_NOT_IN_CALENDAR)


async def message_times(masters: Masters, aims: Sequence[Aim], most: int) -> dict[QueueKey, datetime | str]:
    """By queue: the time, or why there is none. At most `most` queues are asked: those with the most messages
    redelivered or skipped first. A pull uses the group name of RocketMQ's own tools, and never an offset below the
    queue's first.
    """
    times: dict[QueueKey, datetime | str] = {one.key: AT_THE_END for one in aims if one.target == one.most}
    there = sorted((one for one in aims if one.key not in times), key=_moved, reverse=True)
    answers = await asyncio.gather(*(_time(masters, one) for one in there[:most]))
    times |= {one.key: answer for one, answer in zip(there, answers, strict=False)}
    unasked = stored_reason(RowReason.TIMES_LIMITED, most=most)
    return {one.key: times.get(one.key, unasked) for one in aims}


def _moved(aim: Aim) -> int:
    amounts = amounts_of(aim)
    return (amounts.replayed or 0) + (amounts.skipped or 0)


async def _time(masters: Masters, aim: Aim) -> datetime | str:
    master = masters.get(aim.key.broker)
    if master is None:
        return NO_MASTER
    place = (aim.key.topic, aim.key.queue_id, aim.target)
    try:
        pulled = await master.ask(lambda admin, within: admin.pull(*place, deadline_seconds=within))
    except RocketMQError as error:
        return str(error)
    if not pulled.messages:
        return GONE
    return time_of(pulled.messages[0].stored_ms) or NO_TIME


# The first offset stored at a time or later, asked from the masters queue by queue.


async def search(masters: Masters, queues: Collection[QueueOffsets], at: datetime) -> dict[QueueKey, int | str]:
    """By queue: the offset, or why it was not found. `queues` were read; one without messages is not asked."""
    time_ms = int(at.timestamp() * 1000)
    read = [queue for queue in queues if queue.min_offset is not None]
    answers = await asyncio.gather(*(_offset(masters, queue, time_ms) for queue in read))
    return {queue.key: answer for queue, answer in zip(read, answers, strict=True)}


async def _offset(masters: Masters, queue: QueueOffsets, time_ms: int) -> int | str:
    if queue.max_offset is not None and queue.min_offset == queue.max_offset:
        return queue.max_offset
    master = masters.get(queue.key.broker)
    if master is None:
        return NO_MASTER
    place = (queue.key.topic, queue.key.queue_id)
    try:
        return await master.ask(lambda admin, within: admin.search_offset(*place, time_ms, deadline_seconds=within))
    except RocketMQError as error:
        return stored_reason(PlanReason.TIME_NOT_FOUND, error=str(error))


# The brokers of each topic's queues, from name servers: a route decides whether a queue exists, not earlier readings.

ROUTES_AT_ONCE = 8


async def routes_of(ports: Ports, topics: Collection[str]) -> dict[str, Route | RocketMQError]:
    """One call for each topic. A failed call has its error as the value."""
    turns = asyncio.Semaphore(ROUTES_AT_ONCE)

    async def ask(topic: str) -> Route | RocketMQError:
        async with turns:
            try:
                return await reading(lambda: ports.route(topic))
            except RocketMQError as error:
                return error

    names = sorted(topics)
    return dict(zip(names, await asyncio.gather(*(ask(topic) for topic in names)), strict=True))


# A plan in memory: selected queues, facts from their masters, targets, methods and warnings. Nothing is written.

NAMED = 3

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Draft:
    facts: GroupSetup
    rows: list[ResetQueue]
    warnings: list[str]


def draft(reset: Reset, group: ConsumerGroup, ports: Ports, now: datetime, with_heartbeat: WithHeartbeat) -> Draft:
    """Raises ResetRefused."""
    return _Draft(reset, group, ports, now, with_heartbeat).made()


class _Draft:
    def __init__(
        self, reset: Reset, group: ConsumerGroup, ports: Ports, now: datetime, with_heartbeat: WithHeartbeat
    ) -> None:
        self._reset, self._group, self._ports, self._now, self._with_heartbeat = (
            reset,
            group,
            ports,
            now,
            with_heartbeat,
        )
        self._kind = ResetKind(reset.kind)
        self._masters = Masters(ports)
        self._left_out: dict[QueueKey, str] = {}
        self._warnings: list[str] = []

    def made(self) -> Draft:
        picked = self._picked()
        known = known_of(self._group)
        setup = self._run(lambda: gather(self._ports, self._group.name, picked.keys, known, self._now, self._masters))
        group = self._group
        if against := refusals_of_group(
            setup, last_message_model=group.message_model, outside_store=group.outside_store
        ):
            raise ResetRefused(stored_reasons(against))
        aims = self._aims(setup)
        if not self._reset.clip and (outside := why_not_clipped(list(aims.values()))):
            raise ResetRefused(outside)
        methods = self._methods(setup, aims, picked)
        self._check_something_moves(any(way != ResetMethod.NOTHING for way in methods.values()))
        rows = self._rows(setup, aims, methods)
        return Draft(setup, rows, [*warnings_of(self._reset, group, setup, rows), *self._warnings])

    def _run(self, work: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
        return self._with_heartbeat(lambda: self._ports.wire.run(work()))

    def _picked(self) -> Chosen:
        choice = choice_of(self._reset, self._group, self._with_heartbeat)
        picked = chosen(choice, self._run(lambda: routes_of(self._ports, choice.topics)))
        if picked.refusals:
            raise ResetRefused(stored_reasons(picked.refusals[:NAMED]))
        if not picked.keys and not picked.left_out:
            raise ResetRefused(stored_reason(PlanReason.NO_QUEUE_TO_RESET))
        check_number(len(picked.keys) + len(picked.left_out))
        self._left_out |= picked.left_out
        return picked

    def _aims(self, setup: GroupSetup) -> dict[QueueKey, Aim]:
        """Queues that could not be read, or that have no target, are excluded."""
        read = {key: queue for key, queue in setup.queues.items() if queue.error is None}
        self._left_out |= {
            key: stored_reason(PlanReason.QUEUE_UNREADABLE, error=queue.error)
            for key, queue in setup.queues.items()
            if queue.error
        }
        found = self._found(read)
        wanted = {key: target_of(self._kind, self._reset.value, queue, found) for key, queue in read.items()}
        self._left_out |= {key: target for key, target in wanted.items() if isinstance(target, str)}
        return {key: aim(read[key], target) for key, target in wanted.items() if isinstance(target, int)}

    def _found(self, read: Mapping[QueueKey, QueueOffsets]) -> Mapping[QueueKey, int | str]:
        target = TARGETS[self._kind]
        if target.given is not None:
            given = target.given(self._reset, list(read), self._ports, self._now, self._with_heartbeat)
            self._warnings += given.warnings
            return given.offsets
        at = target.searched_time(self._reset.value, self._now)
        return {} if at is None else self._run(lambda: search(self._masters, read.values(), at))

    def _methods(self, setup: GroupSetup, aims: Mapping[QueueKey, Aim], picked: Chosen) -> dict[QueueKey, ResetMethod]:
        methods: dict[QueueKey, ResetMethod | LeftOut] = {key: LeftOut(why) for key, why in self._left_out.items()}
        for key, one in aims.items():
            whole = (key.topic, key.broker) in picked.whole
            methods[key] = method_of(self._kind, setup, setup.queues[key], one.target, one.clipped, whole)
        settled = together(methods)
        self._left_out |= {key: way.reason for key, way in settled.items() if isinstance(way, LeftOut)}
        return {key: way for key, way in settled.items() if isinstance(way, ResetMethod)}

    def _check_something_moves(self, moves: bool) -> None:
        if moves:
            return
        if not self._left_out:
            raise ResetRefused(stored_reason(PlanReason.ALL_AT_TARGET))
        reasons = list(dict.fromkeys(self._left_out.values()))
        raise ResetRefused(stored_reason(PlanReason.NOTHING_MOVABLE, why=stored_reasons(reasons[:NAMED])))

    def _rows(
        self, setup: GroupSetup, aims: Mapping[QueueKey, Aim], methods: Mapping[QueueKey, ResetMethod]
    ) -> list[ResetQueue]:
        moved = [aims[key] for key in methods]
        times = self._run(lambda: message_times(self._masters, moved, settings.RESET_MESSAGE_TIMES))
        pk = self._reset.pk
        rows = [planned_row(pk, Planned(aims[key], method, times[key])) for key, method in methods.items()]
        rows += [
            left_out_row(pk, key, why, setup.queues.get(key), aims.get(key)) for key, why in self._left_out.items()
        ]
        return sorted(rows, key=lambda row: (row.topic, row.broker, row.queue_id))


# Stores a plan: the reset and all of its queues at once, or the reason why there is none.

logger = logging.getLogger(__name__)

Clock = Callable[[], datetime]
ROWS_AT_ONCE = 5_000


def make_plan(reset_id: UUID, ports: Ports, clock: Clock, *, beat_seconds: float = BEAT_SECONDS) -> None:
    """PLANNED or REFUSED afterwards, unless another worker has it, or it needs no plan any more."""

    def kept(ask: Callable[[], Answer]) -> Answer:
        hold.renew_if_old(clock())
        return keep_alive(hold, clock, ask, beat_seconds=beat_seconds)

    try:
        hold = Hold.take(Reset, reset_id, ResetStatus.PLANNING, clock())
        reset = Reset.objects.get(pk=reset_id)
        group = ConsumerGroup.objects.select_related("cluster").get(resets=reset_id)
        try:
            made = draft(reset, group, ports, clock(), kept)
        except ResetRefused as refusal:
            refuse_unplanned(reset_id, refusal.reason, clock())
            return
        except WireClosed as lost:
            refuse_unplanned(reset_id, stored_reason(PlanReason.PLANNING_FAILED, error=str(lost)), clock())
            return
        _write(reset, made, hold, clock())
    except NotHeld as other:
        logger.info("%s", other)


def _write(reset: Reset, made: Draft, hold: Hold, now: datetime) -> None:
    """Raises NotHeld."""
    with transaction.atomic():
        hold.renew(now)
        ResetQueue.objects.bulk_create(made.rows, batch_size=ROWS_AT_ONCE)
        Reset.objects.filter(pk=reset.pk).update(
            status=ResetStatus.PLANNED,
            planned_at=made.facts.taken_at,
            expires_at=now + timedelta(seconds=settings.RESET_PLAN_SECONDS),
            working_at=None,
            seen=seen_of(made.facts),
            warnings=made.warnings,
        )
        note_work(reset, stored_reason(ResetAct.PLANNED, planned_queues=len(made.rows)), now)


def seen_of(setup: GroupSetup) -> dict[str, Any]:
    """The value of `Reset.seen`."""
    return {
        "members": None if setup.members is None else list(setup.members),
        "orderly": setup.orderly,
        "message_model": setup.message_model,
        "consume_type": setup.consume_type,
        "brokers": {
            name: {
                "version": broker.version,
                "server_side": broker.server_side,
                "permission": broker.permission,
                "address": broker.address,
            }
            for name, broker in sorted(setup.brokers.items())
        },
    }


def run_plan(reset_id: UUID, clock: Clock) -> None:
    """Does nothing where it is already planned, or was discarded."""
    reset = Reset.objects.select_related("group__cluster").get(pk=reset_id)
    if reset.group is None:
        refuse_unplanned(reset_id, stored_reason(PlanReason.GROUP_UNKNOWN, group=reset.group_name), clock())
        return
    try:
        wire = connected(reset.group.cluster)
    except (NoAccess, WireClosed) as reason:
        refuse_unplanned(reset_id, str(reason), clock())
        return
    make_plan(reset_id, Ports.of(reset.group.cluster, wire, settings.POLL_CALL_DEADLINE_SECONDS), clock)
