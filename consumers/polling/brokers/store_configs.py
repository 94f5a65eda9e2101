"""How long brokers keep messages and whether they take any, by their own configuration: one call, now and then.

A broker that refuses the question (its ACL may) is read all the same: what it says nothing of is not known.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.errors import RocketMQError
from consumers.rocketmq.wire.pool import ConnectionPool

LONGEST = 1000


@dataclass(frozen=True)
class StoreConfig:
    """`permission` is a sum of 4 (read) and 2 (write). Where `error` is set nothing else of it counts."""

    broker: str
    file_reserved_hours: int | None = None
    delete_when: str | None = None
    permission: int | None = None
    delay_levels: str | None = None
    error: str | None = None


@dataclass
class StoreConfigMemory:
    """When each broker was last asked, by name."""

    every_seconds: float
    asked_at: dict[str, datetime] = field(default_factory=dict)

    def due(self, brokers: Sequence[BrokerReading], now: datetime) -> list[tuple[str, str]]:
        """Names and addresses of masters that were read; they count as asked."""
        found = []
        for broker in brokers:
            asked = self.asked_at.get(broker.name)
            is_due = asked is None or now - asked >= timedelta(seconds=self.every_seconds)
            if broker.read and broker.read_from is None and broker.address and is_due:
                self.asked_at[broker.name] = now
                found.append((broker.name, broker.address))
        return found


async def read_store_configs(
    pool: ConnectionPool, brokers: Sequence[tuple[str, str]], deadline_seconds: float
) -> list[StoreConfig]:
    async def ask(name: str, address: str) -> StoreConfig:
        try:
            return store_config(name, await BrokerAdmin(pool, address).config(deadline_seconds=deadline_seconds))
        except RocketMQError as error:
            return StoreConfig(name, error=str(error))

    return list(await asyncio.gather(*(ask(name, address) for name, address in brokers)))


def store_config(broker: str, config: Mapping[str, str]) -> StoreConfig:
    """Names as in RocketMQ 5.4.0, MessageStoreConfig and BrokerConfig."""
    return StoreConfig(
        broker,
        file_reserved_hours=_whole(config.get("fileReservedTime")),
        delete_when=config.get("deleteWhen"),
        permission=_whole(config.get("brokerPermission")),
        delay_levels=_short(config.get("messageDelayLevel")),
    )


def _short(text: str | None) -> str | None:
    """A part of a list would be another list."""
    return text if text is not None and len(text) <= LONGEST else None


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
