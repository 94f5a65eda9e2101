"""One broker in one sweep over the groups: few calls at once, and no more once it fell silent or said it is busy."""

import asyncio
from collections.abc import Sequence

from consumers.polling.brokers.circuit import is_busy
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.client_values import GroupConnections
from consumers.rocketmq.wire.errors import BrokerRefused, RocketMQError

from .turn import AskedBroker, Turn

# Half of a broker's 16 threads for admin calls (RocketMQ 5.4.0, BrokerController, adminBrokerExecutor).
AT_ONCE = 8


class SweptBroker:
    """`until` is a time of the event loop."""

    def __init__(self, broker: AskedBroker, turn: Turn, until: float) -> None:
        self.broker = broker
        self._admin = BrokerAdmin(turn.pool, broker.address)
        self._deadline_seconds = turn.deadline_seconds
        self._until = until
        self._clock = asyncio.get_running_loop().time
        self._stopped_by: RocketMQError | None = None

    async def connections(self, groups: Sequence[str]) -> list[GroupConnections | RocketMQError | None]:
        """What it says of each group, or why it does not: then each group that is still to come has this reason.

        None: the time was up before the group's turn.
        """
        answers: list[GroupConnections | RocketMQError | None] = [None] * len(groups)
        left = iter(enumerate(groups))

        async def ask() -> None:
            for place, group in left:
                answers[place] = await self._connections(group)

        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
        return answers

    async def _connections(self, group: str) -> GroupConnections | RocketMQError | None:
        if self._stopped_by is not None:
            return self._stopped_by
        if self._clock() >= self._until:
            return None
        try:
            return await self._admin.connections(group, deadline_seconds=self._deadline_seconds)
        except RocketMQError as error:
            if is_busy(error) or not isinstance(error, BrokerRefused):
                self._stopped_by = error
            return error
