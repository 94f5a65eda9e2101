"""Waits until the name server knows a broker.

A broker that serves may not be known yet: it registers at its start only if its scan for name servers, which runs
beside that, was quicker (5.4.0, NettyRemotingClient.scanAvailableNameSrv), and again 10 s later. A change of its
permission makes it register at once (AdminBrokerProcessor.updateBrokerConfig): it is told the permission that it has.
"""

import contextlib
import socket
import time

from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.connection import TlsOptions, client_context
from consumers.rocketmq.wire.frames import Command, FrameReader, encode

from .failures import DemoFailed

UPDATE_BROKER_CONFIG = 25
READ_AND_WRITE = b"brokerPermission=6\n"
REGISTRATION_SECONDS = 30.0
LOOK_SECONDS = 0.3
ANSWER_SECONDS = 10.0


class NotRegistered(DemoFailed):
    """A broker serves, but clients cannot find it."""


def wait_until_registered(namesrv: str, broker_address: str, *, tls: TlsOptions | None = None) -> None:
    deadline = time.monotonic() + REGISTRATION_SECONDS
    while f'"{broker_address}"'.encode() not in _ask(namesrv, RequestCode.GET_BROKER_CLUSTER_INFO, tls=tls):
        if time.monotonic() > deadline:
            raise NotRegistered(f"The name server {namesrv} does not know the broker {broker_address}.")
        _ask(broker_address, UPDATE_BROKER_CONFIG, READ_AND_WRITE, tls=tls)
        time.sleep(LOOK_SECONDS)


def _ask(address: str, code: int, body: bytes = b"", *, tls: TlsOptions | None) -> bytes:
    """The body of the answer to one request on a connection of its own."""
    try:
        answer = _exchange(address, Command(code=code, opaque=1, body=body), tls)
    except OSError as cause:
        raise NotRegistered(f"{address} did not answer request {code}: {cause}.") from cause
    if answer is None:
        raise NotRegistered(f"{address} closed the connection instead of answering request {code}.")
    if answer.code != ResponseCode.SUCCESS:
        raise NotRegistered(f"{address} refused request {code} with {answer.code}: {answer.remark}.")
    return answer.body


def _exchange(address: str, request: Command, tls: TlsOptions | None) -> Command | None:
    """None when the peer closed the connection before its answer was whole."""
    host, _, port = address.rpartition(":")
    reader = FrameReader()
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS))
        if tls:
            connection = stack.enter_context(client_context(tls).wrap_socket(connection, server_hostname=host))
        connection.sendall(encode(request))
        while (answer := reader.next_command()) is None:
            received = connection.recv(1 << 16)
            if not received:
                return None
            reader.receive(received)
    return answer
