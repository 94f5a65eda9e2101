"""A broker's turn in a reading: not at all while it is left alone, a probe first when it failed, a slave in its place.

A slave's consumer offsets may be a minute old: see record/stand_ins.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from consumers.polling.cadence import Cadence
from consumers.polling.memory import BrokerMemory, ClusterMemory
from consumers.polling.reading import BrokerCost, BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.errors import BrokerRefused, RocketMQError
from consumers.rocketmq.pool import ConnectionPool

from .broker_reading import read_broker


@dataclass(frozen=True)
class Turn:
    """What one reading gives to each of its brokers."""

    pool: ConnectionPool
    memory: ClusterMemory
    cadence: Cadence
    now: datetime
    deadline_seconds: float

    async def read(self, name: str, master: str | None, slaves: Sequence[str]) -> BrokerReading:
        """The master's part, or its slave's, with what it cost."""
        clock = asyncio.get_running_loop().time
        addresses = [address for address in (master, *slaves) if address]
        began, before = clock(), self._spent(addresses)
        part = await self._read_either(name, master, slaves)
        spent = self._spent(addresses)
        cost = BrokerCost(spent[0] - before[0], spent[1] - before[1], clock() - began)
        return replace(part, cost=cost)

    def _spent(self, addresses: Sequence[str]) -> tuple[int, int]:
        spent = [self.pool.spent(address) for address in addresses]
        return sum(each.calls for each in spent), sum(each.bytes_received for each in spent)

    async def _read_either(self, name: str, master: str | None, slaves: Sequence[str]) -> BrokerReading:
        """The master's part; where it gives none, that of the first slave that answers, which says so."""
        part = await self._read_master(name, master)
        for address in slaves if not part.read else ():
            known = self.memory.slaves.setdefault(address, BrokerMemory(address))
            found = await self._read(name, known)
            if found.read:
                # In the place of the master.
                return replace(
                    found, address=part.address, version=None, read_from=found.address, master_error=part.error
                )
        return part

    async def _read_master(self, name: str, address: str | None) -> BrokerReading:
        if address is None:
            return BrokerReading(name=name, address=None, error=f"The name server lists no master of {name}.")
        return await self._read(name, self.memory.broker(name, address))

    async def _read(self, name: str, known: BrokerMemory) -> BrokerReading:
        circuit = self.memory.circuit(known.address)
        if (reason := circuit.not_asked(self.now)) is not None:
            return BrokerReading(name=name, address=known.address, error=reason, version=known.version)
        admin = BrokerAdmin(self.pool, known.address)
        if circuit.is_open and (failure := await self._probe(admin)) is not None:
            error = circuit.note(failure, self.now, random.random())
            return BrokerReading(name=name, address=known.address, error=error, version=known.version)
        part = await read_broker(admin, name, self.memory, known, self.cadence, self.now, self.deadline_seconds)
        error = circuit.note(part.cause, self.now, random.random())
        return replace(part, error=error) if error is not None else part

    async def _probe(self, admin: BrokerAdmin) -> RocketMQError | None:
        """One answer from memory, of some hundred bytes. A refusal is an answer."""
        try:
            await admin.delay_offsets(deadline_seconds=self.deadline_seconds)
        except BrokerRefused:
            return None
        except RocketMQError as failure:
            return failure
        return None
