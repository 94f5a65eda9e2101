"""The round over the clients of a reading: bounded in calls by its plan, and in time by the budget.

A client that hangs holds its call for seconds, and one of the broker's threads for 10 s (RocketMQ 5.4.0,
Broker2Client), the same threads that grant locks to orderly clients: after a few of them the broker is asked no more.
What is not reached in time is not asked; that is no error of a client.

A client is asked one question at a time, whichever of its groups it is about. To tell of a queue of which it has no
offset it asks a broker, and waits for the answer in one of the threads that take answers in: as many as it has
processors. Questions in each of them leave none, and the client closes its connections (5.4.0,
DefaultMQPushConsumerImpl.consumerRunningInfo, NettyRemotingAbstract.invokeSyncImpl, NettyClientConfig).
"""

import asyncio
from collections.abc import Collection, Sequence

from consumers.polling.brokers.circuit import is_busy
from consumers.polling.reading import ClientReading, Member
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.errors import DeadlineExceeded, RocketMQError, Unreachable

from .assigned import topics_asked_for, with_assigned
from .running_info import client_reading
from .silences import Silences
from .sweep import AT_ONCE
from .turn import Turn

Asked = tuple[str, Member]  # group, member
# So many given up calls, and those at work beside them, leave some of a broker's 16 threads for admin calls.
HUNG = 4


class ClientRound:
    """`asked`: how many clients were."""

    def __init__(self, turn: Turn, silences: Silences, topics: Collection[str] | None) -> None:
        self.asked = 0
        self._turn, self._silences, self._topics = turn, silences, topics
        self._clock = asyncio.get_running_loop().time
        self._until = self._clock() + turn.budget.running_info_seconds
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._clients: dict[str, asyncio.Lock] = {}
        self._hung: dict[str, str] = {}  # by client id, the broker that it was asked through
        self._stopped: set[str] = set()

    async def read(self, asked: Sequence[Asked]) -> list[ClientReading]:
        """One reading per member that was reached, in their order."""
        readings = await asyncio.gather(*(self._read(group, member) for group, member in asked))
        return [reading for reading in readings if reading is not None]

    async def assign(
        self, readings: Sequence[ClientReading], members: Sequence[Asked], calls: int
    ) -> list[ClientReading]:
        """The same readings; what a broker gives the client in those of clients that leave the sharing out to it."""
        addresses = {(group, member.client_id): member.broker_address for group, member in members}
        asked: list[ClientReading] = []
        for reading in readings:
            topics = topics_asked_for(reading)
            if topics and len(topics) <= calls:
                calls -= len(topics)
                asked.append(reading)
        given = await asyncio.gather(*(self._assigned(one, addresses[one.group, one.client_id]) for one in asked))
        by_client = {(one.group, one.client_id): one for one in given}
        return [by_client.get((reading.group, reading.client_id), reading) for reading in readings]

    async def _read(self, group: str, member: Member) -> ClientReading | None:
        client = self._clients.setdefault(member.client_id, asyncio.Lock())
        async with client, self._slots(member.broker_address):
            if self._is_over(member.broker_address) or member.client_id in self._hung:
                return None
            self.asked += 1
            return await self._ask(group, member)

    async def _ask(self, group: str, member: Member) -> ClientReading:
        admin, whom = BrokerAdmin(self._turn.pool, member.broker_address), (group, member.client_id)
        try:
            info = await admin.running_info(*whom, deadline_seconds=self._turn.deadline_seconds)
        except RocketMQError as error:
            if is_busy(error) or isinstance(error, Unreachable):
                self._stopped.add(member.broker_address)
            else:
                if isinstance(error, DeadlineExceeded):
                    self._note_hung(member)
                self._silences.note(whom, str(error), self._turn.now)
            return ClientReading(*whom, error=str(error))
        self._silences.note(whom, None, self._turn.now)
        return client_reading(*whom, info, self._topics)

    def _note_hung(self, member: Member) -> None:
        self._hung[member.client_id] = member.broker_address
        if list(self._hung.values()).count(member.broker_address) >= HUNG:
            self._stopped.add(member.broker_address)

    async def _assigned(self, reading: ClientReading, address: str) -> ClientReading:
        async with self._slots(address):
            if self._is_over(address):
                return reading
            admin = BrokerAdmin(self._turn.pool, address)
            return await with_assigned(admin, reading, self._turn.deadline_seconds)

    def _slots(self, address: str) -> asyncio.Semaphore:
        return self._turns.setdefault(address, asyncio.Semaphore(AT_ONCE))

    def _is_over(self, address: str) -> bool:
        return address in self._stopped or self._clock() >= self._until
