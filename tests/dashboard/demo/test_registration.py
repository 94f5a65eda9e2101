"""A broker is waited for until the name server knows it."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from consumers.rocketmq.wire.codes import TlsOptions
from consumers.rocketmq.wire.frames import Command, FrameReader, encode
from dashboard.demo.administration import NotRegistered, wait_until_registered
from tests.certificates import Authority

CLUSTER, UPDATE = 106, 25
UNKNOWN = b'{"brokerAddrTable":{}}'


@contextmanager
def server(
    answers: list[tuple[int, bytes]], asked: list[tuple[int, bytes]], tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Serves one connection per answer (code, body); without any, it closes the first one unread."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for code, body in answers:
                connection, _ = listener.accept()
                with tls.wrap_socket(connection, server_side=True) if tls else connection as connection:
                    reader = FrameReader()
                    while (request := reader.next_command()) is None:
                        reader.receive(connection.recv(4096))
                    asked.append((request.code, request.body))
                    connection.sendall(encode(Command(code, request.opaque, flag=1, body=body, remark="why")))
            if not answers:
                listener.accept()[0].close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        host, port = listener.getsockname()
        yield f"{host}:{port}"


def known(address: str) -> bytes:
    return b'{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"%s"}}}}' % address.encode()


def test_a_known_broker_is_left_alone() -> None:
    asked: list[tuple[int, bytes]] = []
    with server([(0, known("127.0.0.1:10911"))], asked) as namesrv:
        wait_until_registered(namesrv, "127.0.0.1:10911")
    assert asked == [(CLUSTER, b"")]


def test_a_name_server_that_wants_tls_is_asked_over_tls(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    issued = authority.issue("name-server")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(issued.certificate, issued.key)
    with server([(0, known("127.0.0.1:10911"))], [], tls) as namesrv:
        wait_until_registered(namesrv, "127.0.0.1:10911", tls=TlsOptions(ca=str(authority.certificate)))


def test_an_unknown_broker_is_made_to_register() -> None:
    of_name_server: list[tuple[int, bytes]] = []
    of_broker: list[tuple[int, bytes]] = []
    with server([(0, b"")], of_broker) as broker, server([(0, UNKNOWN), (0, known(broker))], of_name_server) as namesrv:
        wait_until_registered(namesrv, broker)
    assert [code for code, _ in of_name_server] == [CLUSTER, CLUSTER]
    assert of_broker == [(UPDATE, b"brokerPermission=6\n")]


def test_a_broker_whose_address_only_begins_alike_is_not_taken_for_it() -> None:
    asked: list[tuple[int, bytes]] = []
    with server([(0, b"")], []) as broker, server([(0, known(broker + "1")), (0, known(broker))], asked) as namesrv:
        wait_until_registered(namesrv, broker)
    assert len(asked) == 2


def test_a_refusal_is_told_with_its_reason() -> None:
    with server([(1, b"")], []) as namesrv, pytest.raises(NotRegistered, match="refused request 106 with 1: why"):
        wait_until_registered(namesrv, "127.0.0.1:10911")


def test_a_server_that_hangs_up_is_told() -> None:
    with server([], []) as namesrv, pytest.raises(NotRegistered, match=r"(closed the connection|did not answer)"):
        wait_until_registered(namesrv, "127.0.0.1:10911")


def test_a_name_server_that_is_gone_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(NotRegistered, match=r"did not answer request 106: .*refused"):
        wait_until_registered(f"127.0.0.1:{port}", "127.0.0.1:10911")
