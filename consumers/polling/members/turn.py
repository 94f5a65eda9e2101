"""Whom a reading may ask about members: its budget, silent clients, and one broker in one sweep."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from consumers.polling.memory import is_busy
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.client_bodies import GroupConnections
from consumers.rocketmq.wire.errors import BrokerRefused, RocketMQError
from consumers.rocketmq.wire.pool import ConnectionPool


@dataclass(frozen=True)
class Budget:
    """The budget of one reading. After its seconds a round starts no more calls; running calls have their own deadline.

    `patience_seconds`: for this long after a change, a group is asked in every reading.
    """

    membership_calls: int
    running_info_calls: int
    membership_seconds: float = 5.0
    running_info_seconds: float = 5.0
    patience_seconds: float = 120.0


@dataclass(frozen=True)
class AskedBroker:
    """`name` is the broker's name. For a proxy, or a slave that stands in for its master, it is the address.

    Proxies do not forward requests to their clients.
    """

    name: str
    address: str
    passes_on: bool = True

    @classmethod
    def proxy(cls, address: str) -> "AskedBroker":
        return cls(address, address, passes_on=False)


@dataclass(frozen=True)
class Turn:
    pool: ConnectionPool
    budget: Budget
    now: datetime
    deadline_seconds: float


# One broker in one sweep over the groups: few calls in parallel, and no more after the broker fell silent or was busy.
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
        """The broker's answer about each group, or the reason why there is none. After a failure, each remaining group
        gets the same reason.

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


# Clients that did not answer, and when each group was asked last: the planner's memory between two readings.
#
# A hanging client holds one of the broker's threads for 10 s (RocketMQ 5.4.0, Broker2Client). Losing this memory costs
# a few calls, never a figure.
# A single silence may be the broker's fault. From the second silence in a row on, a client is asked at a lower rate.
PAUSE_SECONDS = 60.0

KEPT = timedelta(hours=1)

Whom = tuple[str, str]  # group, client id


@dataclass(frozen=True)
class Silence:
    times: int
    at: datetime
    error: str

    @property
    def until(self) -> datetime | None:
        return self.at + timedelta(seconds=PAUSE_SECONDS) if self.times > 1 else None


@dataclass
class Silences:
    """`asked_at`: when each group's members were last asked, whether or not a member answered."""

    silent: dict[Whom, Silence] = field(default_factory=dict)
    asked_at: dict[str, datetime] = field(default_factory=dict)

    def not_asked(self, whom: Whom, now: datetime) -> str | None:
        """Why the client is not asked; None if its turn has come."""
        silence = self.silent.get(whom)
        if silence is None or silence.until is None or now >= silence.until:
            return None
        return f"{silence.error}; asked at {silence.at:%H:%M:%S} and again from {silence.until:%H:%M:%S} UTC on"

    def fell_silent(self, whom: Whom) -> bool:
        return whom in self.silent

    def note(self, whom: Whom, error: str | None, now: datetime) -> None:
        """Records the outcome of a call (None: success)."""
        self.asked_at[whom[0]] = now
        if error is None:
            self.silent.pop(whom, None)
            return
        before = self.silent.get(whom)
        self.silent[whom] = Silence(before.times + 1 if before else 1, now, error)

    def forget_old(self, now: datetime) -> None:
        """Forgets clients that left while they were silent."""
        self.silent = {whom: silence for whom, silence in self.silent.items() if now - silence.at < KEPT}
        self.asked_at = {group: at for group, at in self.asked_at.items() if now - at < KEPT}
