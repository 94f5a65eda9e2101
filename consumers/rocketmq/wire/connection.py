"""TCP connections, with or without TLS: many calls at once on each, joined to their answers by `opaque`; and a pool
with one connection per address, opened when first needed and again when it was lost.

A connection sends each request once and never repeats one: the caller knows what may be repeated. Both belong to one
event loop.
"""

import asyncio
import itertools
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

from consumers.rocketmq.wire.frames import Command, FrameReader, encode

from .codes import (
    Credentials,
    DeadlineExceeded,
    RemoteProtocolError,
    ResponseCode,
    RocketMQError,
    Unreachable,
    call_name,
    registered_address,
)

DEFAULT_IN_FLIGHT = 32

# Servers close a channel that was idle for 120 s (serverChannelMaxIdleTimeSeconds).
IDLE_SECONDS = 100.0

READ_SIZE = 1 << 20

MAX_ABANDONED = 1024


class Connection:
    """`usable` turns false for good when it must not take another request; calls under way still get their answers."""

    def __init__(
        self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, in_flight: int
    ) -> None:
        self.address = address
        self.calls = self.bytes_sent = self.bytes_received = 0
        self._reader, self._writer = reader, writer
        self._frames = FrameReader()
        self._slots = asyncio.Semaphore(in_flight)
        self._opaques = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Command]] = {}
        self._abandoned: set[int] = set()
        self._answers = 0
        self._retired = False
        self._closed_by: RocketMQError | None = None
        self.used_at = asyncio.get_running_loop().time()
        self._receiver = asyncio.create_task(self._receive(), name=f"rocketmq receiver {address}")

    @classmethod
    async def open(
        cls,
        address: str,
        *,
        deadline_seconds: float,
        in_flight: int = DEFAULT_IN_FLIGHT,
        tls: ssl.SSLContext | None = None,
    ) -> "Connection":
        target = registered_address(address)
        try:
            async with asyncio.timeout(deadline_seconds):
                reader, writer = await asyncio.open_connection(target.host, target.port, limit=READ_SIZE, ssl=tls)
        except TimeoutError as error:
            raise DeadlineExceeded(f"no connection within {deadline_seconds:.3g} s", address=address) from error
        except ssl.SSLCertVerificationError as error:
            cause = error.verify_message.rstrip(".")
            raise Unreachable(f"its TLS certificate was not accepted ({cause})", address=address) from error
        except (OSError, UnicodeError) as error:  # UnicodeError: a host name that IDNA cannot encode
            how = "connect" if tls is None else "connect over TLS"
            raise Unreachable(f"cannot {how} ({error})", address=address) from error
        return cls(address, reader, writer, in_flight=in_flight)

    def __repr__(self) -> str:
        return f"<Connection {self.address} pending={len(self._pending)} calls={self.calls} usable={self.usable}>"

    @property
    def closed(self) -> bool:
        return self._closed_by is not None

    @property
    def busy(self) -> bool:
        return bool(self._pending)

    @property
    def usable(self) -> bool:
        return self.usable_at(asyncio.get_running_loop().time())

    def usable_at(self, time: float) -> bool:
        """`time` is the event loop's."""
        idle = not self._pending and time - self.used_at > IDLE_SECONDS
        return not (self.closed or self._retired or idle)

    async def request(
        self,
        code: int,
        ext_fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        deadline_seconds: float,
    ) -> Command:
        """The peer's answer, whatever its code. Raises RocketMQError within the deadline, slot and sending included."""
        answers_before = self._answers
        try:
            async with asyncio.timeout(deadline_seconds), self._slots:
                return await self._exchange(code, ext_fields or {}, body)
        except TimeoutError as error:
            # A peer that vanished, or trickles, would hold the connection for ever. The next request takes another one.
            if self._answers == answers_before:
                self._retire()
            sentence = f"no answer to {call_name(code)} within {deadline_seconds:.3g} s"
            raise DeadlineExceeded(sentence, address=self.address) from error

    async def close(self) -> None:
        """Fails every call under way with Unreachable."""
        self._fail(Unreachable("the connection was closed by this side", address=self.address))
        await asyncio.gather(self._receiver, self._writer.wait_closed(), return_exceptions=True)

    async def _exchange(self, code: int, ext_fields: Mapping[str, str], body: bytes) -> Command:
        self._refuse_if_closed()
        opaque = next(self._opaques) & 0x7FFFFFFF
        frame = encode(Command(code, opaque, ext_fields=ext_fields, body=body))
        answer: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
        self._pending[opaque] = answer
        try:
            await self._send(frame)
            self.calls += 1
            return await answer
        finally:
            self._forget(opaque, answer)

    async def _send(self, frame: bytes) -> None:
        self.used_at = asyncio.get_running_loop().time()
        self._writer.write(frame)
        self.bytes_sent += len(frame)
        try:
            await self._writer.drain()
        except OSError as error:
            self._fail(Unreachable(f"the connection broke while sending ({error})", address=self.address))
            self._raise_if_closed()

    def _refuse_if_closed(self) -> None:
        try:
            self._raise_if_closed()
        except RocketMQError as error:
            error.never_sent = True
            raise

    def _raise_if_closed(self) -> None:
        if self._closed_by is not None:
            raise type(self._closed_by)(self._closed_by.sentence, address=self.address)

    def _forget(self, opaque: int, answer: "asyncio.Future[Command]") -> None:
        unanswered = answer.cancelled() or not answer.done()
        if self._pending.pop(opaque, None) is not None and unanswered:
            self._abandoned.add(opaque)
        if not unanswered:
            answer.exception()  # retrieved, or asyncio complains of one that nobody awaited
        if len(self._abandoned) > MAX_ABANDONED:
            self._retire()
        self._close_if_spent()

    def _retire(self) -> None:
        self._retired = True
        self._close_if_spent()

    def _close_if_spent(self) -> None:
        if self._retired and not self._pending:
            self._fail(Unreachable("the connection was given up", address=self.address))

    async def _receive(self) -> None:
        try:
            while received := await self._reader.read(READ_SIZE):
                self.bytes_received += len(received)
                self._frames.receive(received)
                while (command := self._frames.next_command()) is not None:
                    self._deliver(command)
        except RemoteProtocolError as error:
            self._fail(RemoteProtocolError(error.sentence, address=self.address))
        except OSError as error:
            self._fail(Unreachable(f"the connection broke ({error})", address=self.address))
        else:
            self._fail(Unreachable(f"the peer closed the connection {self._where()}", address=self.address))

    def _where(self) -> str:
        if self._frames.is_mid_frame:
            return "in the middle of an answer"
        if self.bytes_received or self._writer.get_extra_info("ssl_object"):
            return "before answering"
        # It looks at the first byte, and closes at once (5.4.0, NettyRemotingServer.TlsModeHandler).
        return "before answering; a server that wants TLS does that too"

    def _deliver(self, command: Command) -> None:
        if not command.is_response:
            self._decline(command)
            return
        if command.opaque in self._abandoned:
            self._abandoned.discard(command.opaque)
            self._answers += 1
            return
        answer = self._pending.get(command.opaque)
        if answer is None or (answer.done() and not answer.cancelled()):
            raise RemoteProtocolError(f"an answer with opaque {command.opaque}, which no request awaits")
        self._answers += 1
        if answer.cancelled():  # its deadline passed in this very turn of the loop
            del self._pending[command.opaque]
            return
        answer.set_result(command)
        if command.code == ResponseCode.GO_AWAY:
            self._retire()

    def _decline(self, command: Command) -> None:
        # Servers number their own requests apart, so the opaque of one says nothing about ours (RemotingCommand).
        if not command.is_oneway:
            code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            self._writer.write(encode(Command(code, command.opaque, flag=1, remark="not supported by this client")))

    def _fail(self, cause: RocketMQError) -> None:
        if self._closed_by is not None:
            return
        self._closed_by = cause
        self._receiver.cancel()
        self._writer.transport.abort()
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(type(cause)(cause.sentence, address=self.address))


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
