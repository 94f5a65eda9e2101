"""A receiver with a certificate: it has to be of the name that was entered, whatever address is behind it."""

import ipaddress
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from consumers.alerts.channels.kinds.addresses import parsed_url
from consumers.alerts.channels.kinds.sending import NoAnswer, post
from tests.certificates import Authority
from tests.http_receiver import status

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]


class Taker(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        status(200, "taken")(self)

    def log_message(self, *_: object) -> None:
        """Tests say what was received."""


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def port(authority: Authority) -> Iterator[int]:
    """Of a receiver whose certificate is of 127.0.0.1, and of no name."""
    issued = authority.issue("receiver", "127.0.0.1")
    server = HTTPServer(("127.0.0.1", 0), Taker)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(issued.certificate, issued.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    serving.join()


def test_a_certificate_of_the_name_is_believed(
    authority: Authority, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    assert post(parsed_url(f"https://127.0.0.1:{port}/"), b"", {}, LOOPBACK, 5).text == "taken"


def test_a_certificate_of_another_name_is_not(authority: Authority, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    with pytest.raises(NoAnswer, match=r"certificate verify failed.*localhost"):
        post(parsed_url(f"https://localhost:{port}/"), b"", {}, LOOPBACK, 5)


def test_a_certificate_of_nobody_is_not(port: int) -> None:
    with pytest.raises(NoAnswer, match="certificate verify failed"):
        post(parsed_url(f"https://127.0.0.1:{port}/"), b"", {}, LOOPBACK, 5)
