"""One connection on a real socket: many calls at once, deadlines, the end."""

import asyncio

import pytest

from consumers.rocketmq.wire.codes import (
    DeadlineExceeded,
    LocalProtocolError,
    RemoteProtocolError,
    RequestCode,
    ResponseCode,
    Unreachable,
)
from consumers.rocketmq.wire.connection import IDLE_SECONDS, Connection
from consumers.rocketmq.wire.frames import Command, encode
from tests.consumers.rocketmq.fake_server import answering, commands, reply, served, silence


def echo(request: Command) -> Command:
    return reply(request, ext_fields=request.ext_fields, body=request.body)


def test_it_gives_the_answer_whatever_its_code() -> None:
    async def main() -> Command:
        async with served(answering(lambda request: reply(request, 17, remark="no topic"))) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            answer = await connection.request(202, {"topic": "T"}, deadline_seconds=5)
            await connection.close()
            return answer

    answer = asyncio.run(main())
    assert (answer.code, answer.remark) == (17, "no topic")


def test_it_counts_calls_and_bytes() -> None:
    async def main() -> Connection:
        async with served(answering(echo)) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            for _ in range(2):
                await connection.request(43, deadline_seconds=5)
            await connection.close()
            return connection

    connection = asyncio.run(main())
    sent = sum(len(encode(Command(43, opaque))) for opaque in (1, 2))
    received = sum(len(encode(reply(Command(43, opaque)))) for opaque in (1, 2))
    assert (connection.calls, connection.bytes_sent, connection.bytes_received) == (2, sent, received)


def test_it_joins_answers_that_come_in_another_order() -> None:
    async def backwards(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests = []
        async for request in commands(reader):
            requests.append(request)
            if len(requests) == 20:
                writer.write(b"".join(encode(echo(request)) for request in reversed(requests)))

    async def main() -> list[Command]:
        async with served(backwards) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            calls = (connection.request(31, {"queueId": str(number)}, deadline_seconds=5) for number in range(20))
            answers = await asyncio.gather(*calls)
            await connection.close()
            return answers

    assert [answer.ext_fields["queueId"] for answer in asyncio.run(main())] == [str(number) for number in range(20)]


def test_it_keeps_no_more_requests_in_flight_than_allowed() -> None:
    async def main() -> list[int]:
        arrived, seen = asyncio.Semaphore(0), 0

        async def hold_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal seen
            async for _request in commands(reader):
                seen += 1
                arrived.release()

        async with served(hold_back) as address:
            connection = await Connection.open(address, deadline_seconds=5, in_flight=3)
            calls = [asyncio.create_task(connection.request(31, deadline_seconds=30)) for _ in range(8)]
            for _ in range(3):
                await arrived.acquire()
            # One that was sent without leave would be there by then.
            await asyncio.sleep(0.1)
            before = seen
            calls[0].cancel()
            await arrived.acquire()
            after = seen
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            await connection.close()
        return [before, after]

    assert asyncio.run(main()) == [3, 4]


def test_a_late_answer_is_dropped_and_the_next_call_gets_its_own() -> None:
    async def main() -> tuple[Command, Command]:
        release = asyncio.Event()

        async def first_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            requests = commands(reader)
            late, prompt = await anext(requests), await anext(requests)
            writer.write(encode(reply(prompt, body=b"prompt")))
            await release.wait()
            writer.write(encode(reply(late, body=b"late")))
            writer.write(encode(reply(await anext(requests), body=b"next")))
            await silence(reader, writer)

        async with served(first_late) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            late = asyncio.create_task(connection.request(307, deadline_seconds=0.2))
            await asyncio.sleep(0)
            prompt = await connection.request(43, deadline_seconds=5)
            with pytest.raises(DeadlineExceeded):
                await late
            release.set()
            following = await connection.request(43, deadline_seconds=5)
            await connection.close()
            return prompt, following

    prompt, following = asyncio.run(main())
    assert (prompt.body, following.body) == (b"prompt", b"next")


def test_it_declines_requests_of_the_server_and_ignores_its_oneway_ones() -> None:
    async def main() -> tuple[Command, Command]:
        declined: asyncio.Queue[Command] = asyncio.Queue()

        async def ask_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            requests = commands(reader)
            request = await anext(requests)
            writer.write(encode(Command(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, 77, flag=2)))
            writer.write(encode(Command(307, request.opaque)))
            declined.put_nowait(await anext(requests))
            writer.write(encode(reply(request, body=b"answer")))
            await silence(reader, writer)

        async with served(ask_back) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            answer = await connection.request(43, deadline_seconds=5)
            await connection.close()
            return answer, declined.get_nowait()

    answer, declined = asyncio.run(main())
    assert answer.body == b"answer"
    assert (declined.code, declined.opaque, declined.is_response) == (
        ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        answer.opaque,
        True,
    )


def test_an_answer_to_nothing_fails_every_call_under_way() -> None:
    async def main() -> list[Command | BaseException]:
        async def unasked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            requests = commands(reader)
            await anext(requests), await anext(requests)
            writer.write(encode(Command(0, 99, flag=1)))
            await silence(reader, writer)

        async with served(unasked) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            calls = (connection.request(43, deadline_seconds=5) for _ in range(2))
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert connection.closed
            await connection.close()
            return outcomes

    outcomes = asyncio.run(main())
    assert [type(outcome) for outcome in outcomes] == [RemoteProtocolError, RemoteProtocolError]
    assert "opaque 99" in str(outcomes[0])


def test_closing_fails_every_call_under_way_and_every_later_one() -> None:
    async def main() -> list[Command | BaseException]:
        async with served(silence) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            calls = [asyncio.create_task(connection.request(43, deadline_seconds=5)) for _ in range(3)]
            await asyncio.sleep(0)
            await connection.close()
            await connection.close()
            calls.append(asyncio.create_task(connection.request(43, deadline_seconds=5)))
            return await asyncio.gather(*calls, return_exceptions=True)

    assert [type(outcome) for outcome in asyncio.run(main())] == [Unreachable] * 4


def test_a_request_that_cannot_be_sent_harms_no_other() -> None:
    async def main() -> Command:
        async with served(answering(echo)) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            with pytest.raises(LocalProtocolError):
                await connection.request(43, {"topic": 7}, deadline_seconds=5)  # type: ignore[dict-item]
            answer = await connection.request(43, deadline_seconds=5)
            await connection.close()
            return answer

    assert asyncio.run(main()).code == 0


def test_go_away_is_an_answer_after_which_the_connection_takes_no_more() -> None:
    async def main() -> tuple[int, bool]:
        async with served(answering(lambda request: reply(request, ResponseCode.GO_AWAY))) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            answer = await connection.request(43, deadline_seconds=5)
            usable = connection.usable
            await connection.close()
            return answer.code, usable

    assert asyncio.run(main()) == (1500, False)


def test_an_idle_connection_is_not_used_again() -> None:
    async def main() -> tuple[bool, bool]:
        async with served(silence) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            fresh = connection.usable_at(connection.used_at + IDLE_SECONDS)
            idle = connection.usable_at(connection.used_at + IDLE_SECONDS + 0.001)
            await connection.close()
            return fresh, idle

    assert asyncio.run(main()) == (True, False)
