"""TLS on a real socket, with certificates of the tests' own."""

import asyncio
import ssl
from pathlib import Path

import pytest

from consumers.rocketmq.wire.codes import RocketMQError, TlsOptions, Unreachable, client_context
from consumers.rocketmq.wire.connection import Connection
from tests.certificates import Authority, Issued
from tests.consumers.rocketmq.fake_server import answering, reply, served


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(authority: Authority) -> Issued:
    return authority.issue("server")


def ask(server: Issued | None, options: TlsOptions | None, *, clients_of: Authority | None = None) -> int:
    """The code of one answer. `server` None: it speaks no TLS. `clients_of`: it wants a certificate of theirs."""

    async def main() -> int:
        async with served(answering(lambda request: reply(request, 17)), tls=_server_context(server, clients_of)) as at:
            context = client_context(options) if options else None
            connection = await Connection.open(at, deadline_seconds=2, tls=context)
            try:
                return (await connection.request(43, deadline_seconds=2)).code
            finally:
                await connection.close()

    return asyncio.run(main())


def _server_context(server: Issued | None, clients_of: Authority | None) -> ssl.SSLContext | None:
    if server is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.certificate, server.key)
    if clients_of is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients_of.certificate)
    return context


def test_a_server_whose_certificate_is_of_a_trusted_authority_is_asked(authority: Authority, server: Issued) -> None:
    assert ask(server, TlsOptions(ca=str(authority.certificate))) == 17


def test_a_server_that_may_show_anything_is_asked(server: Issued) -> None:
    assert ask(server, TlsOptions(verify=False)) == 17


def test_a_certificate_of_another_authority_is_not_accepted(server: Issued, tmp_path: Path) -> None:
    stranger = Authority(tmp_path, "stranger")
    with pytest.raises(Unreachable, match=r"its TLS certificate was not accepted \("):
        ask(server, TlsOptions(ca=str(stranger.certificate)))


def test_without_an_authority_of_its_own_those_of_the_machine_count(server: Issued) -> None:
    with pytest.raises(Unreachable, match="its TLS certificate was not accepted"):
        ask(server, TlsOptions())


def test_a_certificate_for_another_host_is_not_accepted(authority: Authority) -> None:
    elsewhere = authority.issue("elsewhere", "10.0.0.1")
    with pytest.raises(Unreachable, match=r"not accepted \(.*127\.0\.0\.1"):
        ask(elsewhere, TlsOptions(ca=str(authority.certificate)))


def test_a_certificate_for_another_host_is_accepted_where_any_host_will_do(authority: Authority) -> None:
    elsewhere = authority.issue("elsewhere-too", "10.0.0.1")
    assert ask(elsewhere, TlsOptions(ca=str(authority.certificate), any_host=True)) == 17


def test_any_host_is_not_any_authority(server: Issued, tmp_path: Path) -> None:
    stranger = Authority(tmp_path, "stranger")
    with pytest.raises(Unreachable, match="its TLS certificate was not accepted"):
        ask(server, TlsOptions(ca=str(stranger.certificate), any_host=True))


def test_a_server_that_wants_a_certificate_is_shown_one(authority: Authority, server: Issued) -> None:
    monitor = authority.issue("monitor")
    shown = TlsOptions(str(authority.certificate), str(monitor.certificate), str(monitor.key))
    assert ask(server, shown, clients_of=authority) == 17


def test_a_server_that_wants_a_certificate_refuses_those_without(authority: Authority, server: Issued) -> None:
    with pytest.raises(RocketMQError):
        ask(server, TlsOptions(ca=str(authority.certificate)), clients_of=authority)


def test_a_plain_request_to_a_server_that_closes_it_says_that_it_may_want_tls() -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.close()

    async def main() -> None:
        async with served(close) as address:
            connection = await Connection.open(address, deadline_seconds=2)
            with pytest.raises(Unreachable, match="before answering; a server that wants TLS does that too"):
                await connection.request(43, deadline_seconds=2)
            await connection.close()

    asyncio.run(main())
