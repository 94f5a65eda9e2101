"""How many retries wait in the timer wheel of a broker (RocketMQ 5): by topic, as the broker itself counts them."""

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.names import RETRY_PREFIX

from .answers import WheelAnswer


async def read_wheel(admin: BrokerAdmin, deadline_seconds: float) -> WheelAnswer:
    try:
        counts = await admin.timer_counts(deadline_seconds=deadline_seconds)
    except RocketMQError as failure:
        return WheelAnswer(None, str(failure))
    return WheelAnswer({topic: n for topic, n in sorted(counts.items()) if n and topic.startswith(RETRY_PREFIX)})
