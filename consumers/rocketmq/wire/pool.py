"""One connection per address, opened when first needed and again when it was lost. It belongs to one event loop."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

from .codes import Credentials, DeadlineExceeded, RocketMQError, Unreachable
from .connection import DEFAULT_IN_FLIGHT, Connection
from .frames import Command


@dataclass(frozen=True)
class Spent:
    calls: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0

    @classmethod
    def on(cls, connection: Connection) -> "Spent":
        return cls(connection.calls, connection.bytes_sent, connection.bytes_received)

    def __add__(self, other: "Spent") -> "Spent":
        sums = (self.bytes_sent + other.bytes_sent, self.bytes_received + other.bytes_received)
        return Spent(self.calls + other.calls, *sums)


class ConnectionPool:
    """The counters are sums over every connection there ever was."""

    def __init__(
        self,
        *,
        in_flight: int = DEFAULT_IN_FLIGHT,
        credentials: Credentials | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._in_flight, self._credentials, self._tls = in_flight, credentials, tls
        self._connections: dict[str, Connection] = {}
        self._replaced: list[Connection] = []
        self._opening: dict[str, asyncio.Lock] = {}
        self._spent: dict[str, Spent] = {}
        self._closed = False

    async def __aenter__(self) -> "ConnectionPool":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def calls(self) -> int:
        return self.spent().calls

    @property
    def bytes_sent(self) -> int:
        return self.spent().bytes_sent

    @property
    def bytes_received(self) -> int:
        return self.spent().bytes_received

    def spent(self, address: str | None = None) -> "Spent":
        """On one peer, or on all of them."""
        there = [connection for connection in self._known() if address in (None, connection.address)]
        before = [spent for peer, spent in self._spent.items() if address in (None, peer)]
        return sum([*map(Spent.on, there), *before], Spent())

    async def request(
        self,
        address: str,
        code: int,
        ext_fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        deadline_seconds: float,
    ) -> Command:
        """The answer, whatever its code. The deadline covers connecting too. Raises RocketMQError."""
        fields = dict(ext_fields or {})
        if self._credentials is not None:
            fields = self._credentials.signed(fields, body)
        clock = asyncio.get_running_loop().time
        deadline = clock() + deadline_seconds
        try:
            connection = await self._connection(address, deadline_seconds)
        except RocketMQError as error:
            error.never_sent = True
            raise
        left = max(deadline - clock(), 0.0)
        return await connection.request(code, fields, body, deadline_seconds=left)

    async def close(self) -> None:
        self._closed = True
        for connection in self._known():
            await connection.close()

    async def _connection(self, address: str, deadline_seconds: float) -> Connection:
        connection = self._usable(address)
        if connection is not None:
            return connection
        try:
            async with asyncio.timeout(deadline_seconds), self._opening.setdefault(address, asyncio.Lock()):
                return self._usable(address) or await self._open(address, deadline_seconds)
        except TimeoutError as error:
            raise DeadlineExceeded(f"no connection within {deadline_seconds:.3g} s", address=address) from error

    def _usable(self, address: str) -> Connection | None:
        if self._closed:
            raise Unreachable("the pool of connections was closed", address=address)
        connection = self._connections.get(address)
        return connection if connection is not None and connection.usable else None

    async def _open(self, address: str, deadline_seconds: float) -> Connection:
        connection = await Connection.open(
            address, deadline_seconds=deadline_seconds, in_flight=self._in_flight, tls=self._tls
        )
        if self._closed:
            await connection.close()
            raise Unreachable("the pool of connections was closed", address=address)
        if (replaced := self._connections.get(address)) is not None:
            self._replaced.append(replaced)
        self._connections[address] = connection
        await self._sweep()
        return connection

    async def _sweep(self) -> None:
        """A replaced connection may still await answers of calls made earlier; it is dropped when it has none."""
        for connection in [replaced for replaced in self._replaced if not replaced.busy]:
            self._replaced.remove(connection)
            await connection.close()
            address = connection.address
            self._spent[address] = self._spent.get(address, Spent()) + Spent.on(connection)

    def _known(self) -> list[Connection]:
        return [*self._replaced, *self._connections.values()]
