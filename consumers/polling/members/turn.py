"""What one reading gives to the questions about members, and whom it may ask."""

from dataclasses import dataclass
from datetime import datetime

from consumers.rocketmq.wire.pool import ConnectionPool


@dataclass(frozen=True)
class Budget:
    """Of one reading. Past its seconds a round begins no more calls; those under way have their own deadline.

    `patience_seconds`: so long after a change a group is asked in every reading.
    """

    membership_calls: int
    running_info_calls: int
    membership_seconds: float = 5.0
    running_info_seconds: float = 5.0
    patience_seconds: float = 120.0


@dataclass(frozen=True)
class AskedBroker:
    """`name` is that of the broker; of a proxy, or a slave that stands in for its master, it is the address.

    Proxies do not pass questions on to their clients.
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
