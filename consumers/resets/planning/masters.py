"""A cluster's masters as a plan asks them: few calls at once, and no more calls to a silent one."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from consumers.jobs.wires import Ports, reading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.errors import DeadlineExceeded, RocketMQError, Unreachable

CALLS_AT_ONCE = 8

Answer = TypeVar("Answer")


class Master:
    def __init__(self, name: str, admin: BrokerAdmin, deadline_seconds: float) -> None:
        self.name = name
        self._admin, self._seconds = admin, deadline_seconds
        self._turns = asyncio.Semaphore(CALLS_AT_ONCE)
        self._silence: RocketMQError | None = None

    async def ask(self, call: Callable[[BrokerAdmin, float], Awaitable[Answer]]) -> Answer:
        """`call` gets the deadline in seconds. Once the broker was silent, every later call fails with the same error.

        Raises RocketMQError.
        """
        async with self._turns:
            if self._silence is not None:
                raise self._silence
            try:
                return await reading(lambda: call(self._admin, self._seconds))
            except (Unreachable, DeadlineExceeded) as silence:
                self._silence = silence
                raise

    @property
    def address(self) -> str:
        return self._admin.address

    @property
    def version(self) -> int | None:
        """The version ordinal in its latest answer; null before the first."""
        return self._admin.broker_version


class Masters:
    """By broker name; masters that no reading has seen are missing. They belong to the event loop of `ports.wire`."""

    def __init__(self, ports: Ports) -> None:
        self._masters = {
            name: Master(name, ports.known(name), ports.deadline_seconds) for name in sorted(ports.addresses)
        }

    def __iter__(self) -> Iterator[Master]:
        return iter(self._masters.values())

    def get(self, broker: str) -> Master | None:
        return self._masters.get(broker)
