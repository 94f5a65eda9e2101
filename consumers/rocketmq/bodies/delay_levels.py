"""`messageDelayLevel` of a broker: how long a message waits on each delay level.

What a broker makes of a list that it cannot read depends on where it stops reading (RocketMQ 5.4.0,
ScheduleMessageService.parseDelayLevel): such a list tells nothing here.
"""

import re

from consumers.rocketmq.wire.errors import RemoteProtocolError

SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
# The first retry of a message waits at this level (5.4.0, AbstractSendMessageProcessor: 3 + reconsumeTimes).
FIRST_RETRY_LEVEL = 3

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DELAY = re.compile(r"([0-9]{1,9})([smhd])")
_LONGEST_SHOWN = 80


def level_delays(text: str) -> tuple[int, ...]:
    """Seconds of levels 1, 2, …. Raises RemoteProtocolError for what is not delays like 10s, one space between two."""
    parts = [_DELAY.fullmatch(part) for part in text.split(" ")]
    if any(part is None for part in parts):
        raise RemoteProtocolError(f"messageDelayLevel is {text[:_LONGEST_SHOWN]!r}: not delays as 1s 5m 2h 1d")
    return tuple(int(part[1]) * _SECONDS[part[2]] for part in parts if part is not None)


def queue_of_level(level: int) -> int:
    """The queue of SCHEDULE_TOPIC_XXXX that holds a level's messages."""
    return level - 1


def level_of_queue(queue_id: int) -> int:
    return queue_id + 1
