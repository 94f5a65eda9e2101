"""One TCP connection, with or without TLS: many calls at once, joined to their answers by `opaque`.

It sends each request once and never repeats one: the caller knows what may be repeated. It belongs to one event loop.
"""

import asyncio
import itertools
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from consumers.rocketmq.wire.frames import Command, FrameReader, encode

from .codes import (
    DeadlineExceeded,
    LocalProtocolError,
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


# TLS towards brokers and name servers: the client begins it, on the ordinary port (5.4.0, NettyRemotingServer).
#
# Certificates are verified, host names too, unless the options say otherwise in so many words.
@dataclass(frozen=True)
class TlsOptions:
    """Paths of PEM files. Without `ca` the machine's own authorities count; `key` may stand in `certificate`.

    `any_host`: a certificate of these authorities will do, whatever host it names.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: bool = True
    any_host: bool = False


def client_context(options: TlsOptions) -> ssl.SSLContext:
    """Raises LocalProtocolError where a file does not serve."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = options.verify and not options.any_host
    if not options.verify:
        context.verify_mode = ssl.CERT_NONE
    elif options.ca is None:
        context.load_default_certs()
    else:
        try:
            context.load_verify_locations(options.ca)
        except OSError as error:
            raise LocalProtocolError(f"the TLS authorities {options.ca} cannot be used ({_cause(error)})") from error
    if options.certificate is not None:
        try:
            # The answer to a question for a passphrase: none, where asking would block for ever.
            context.load_cert_chain(options.certificate, options.key, password=_no_passphrase)
        except (OSError, ValueError) as error:
            files = " and ".join(file for file in (options.certificate, options.key) if file)
            raise LocalProtocolError(f"the TLS certificate {files} cannot be used ({_cause(error)})") from error
    return context


def _no_passphrase() -> str:
    raise ValueError("its key is encrypted: give one without a passphrase, readable by the poll worker alone")


def _cause(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "it holds no valid PEM, or the two do not belong together"
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
