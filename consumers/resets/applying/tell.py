"""Tells a broker where a queue, or all queues of a topic there, go on. What that came to is set in their rows, unsaved.

Nothing is repeated: an absolute offset that is set twice may replay messages twice.
"""

from collections.abc import Sequence

from consumers.errands.ports import Ports
from consumers.models import Reset, ResetKind, ResetMethod, ResetQueue, ResetStep
from consumers.resets.value_of import moment_of
from consumers.rocketmq.codes import ResponseCode
from consumers.rocketmq.errors import BrokerRefused, RocketMQError
from consumers.rocketmq.offset_writes import EARLIEST_MS, LATEST_MS, NotApplied


def tell(ports: Ports, reset: Reset, rows: Sequence[ResetQueue]) -> RocketMQError | None:
    """`rows` are one call's: one row, or those of one topic at one broker where members are told by time.

    Null where the broker answered that it did it. `written_at` is the caller's to set.
    """
    try:
        answered = ports.wire.run(_call(ports, reset, rows[0]))
    except RocketMQError as error:
        for row in rows:
            _note_failure(row, error)
        return error
    for row in rows:
        row.answered = answered.get(row.queue_id)
        if row.method == ResetMethod.COMMIT or row.answered is not None:
            row.step, row.error = ResetStep.WRITTEN, None
        else:
            row.step, row.error = ResetStep.UNANSWERED, "the broker's answer does not name this queue"
    return None


async def _call(ports: Ports, reset: Reset, row: ResetQueue) -> dict[int, int]:
    """The offsets that the answer names, by queue id; a commit's answer names none."""
    broker, seconds = ports.writes(row.broker), ports.deadline_seconds
    group, topic, queue_id = reset.group_name, row.topic, row.queue_id
    if row.method == ResetMethod.CLIENT:
        return await broker.reset_by_time(group, topic, time_ms_of(reset), deadline_seconds=seconds)
    if row.target is None:
        raise ValueError(f"{row} has no target")
    if row.method == ResetMethod.SERVER:
        return {queue_id: await broker.reset_exact(group, topic, queue_id, row.target, deadline_seconds=seconds)}
    if row.method == ResetMethod.COMMIT:
        await broker.commit(group, topic, queue_id, row.target, deadline_seconds=seconds)
        return {}
    raise ValueError(f"{row} is not written: its method is {row.method}")


def time_ms_of(reset: Reset) -> int:
    """What members are told where the broker moves nothing itself: the only way to say where to is a time."""
    match reset.kind:
        case ResetKind.EARLIEST:
            return EARLIEST_MS
        case ResetKind.LATEST:
            return LATEST_MS
        case ResetKind.TIME:
            return int(moment_of(str(reset.value)).timestamp() * 1000)
    raise ValueError(f"a target of the kind {reset.kind} cannot be told to members by time")


def _note_failure(row: ResetQueue, error: RocketMQError) -> None:
    if _has_changed_nothing(row, error):
        row.step, row.error = ResetStep.FAILED, str(error)
    else:
        row.step, row.error = ResetStep.UNANSWERED, f"it may have been moved: {error}"


def _has_changed_nothing(row: ResetQueue, error: RocketMQError) -> bool:
    """A broker that tells members one after the other refuses at the first that is too old, when others were told
    already (5.1.4, Broker2Client.resetOffset)."""
    if isinstance(error, BrokerRefused):
        return row.method != ResetMethod.CLIENT or error.code != ResponseCode.SYSTEM_ERROR
    return error.never_sent or isinstance(error, NotApplied)
