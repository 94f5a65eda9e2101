"""A peer on a real socket that does what a test tells it to."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

from consumers.rocketmq.wire.frames import Command, FrameReader, encode

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def served(
    behaviour: Behaviour, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """The address of a server that treats each connection with `behaviour` until the block ends."""
    tasks: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            await behaviour(reader, writer)

    server = await asyncio.start_server(serve, host, 0, ssl=tls)
    try:
        yield f"{host}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)


async def commands(reader: asyncio.StreamReader) -> AsyncIterator[Command]:
    """The requests of one connection, until the client closes it."""
    frames = FrameReader()
    while received := await reader.read(65536):
        frames.receive(received)
        while (command := frames.next_command()) is not None:
            yield command


def answering(answer: Callable[[Command], Command]) -> Behaviour:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for command in commands(reader):
            writer.write(encode(answer(command)))

    return behave


def reply(request: Command, code: int = 0, **fields: object) -> Command:
    return Command(code, request.opaque, flag=1, **fields)  # type: ignore[arg-type]


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for _ in commands(reader):
        pass
