import pytest

from consumers.rocketmq.addresses import Address, parse_address
from consumers.rocketmq.errors import LocalProtocolError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("broker-1:10911", Address("broker-1", 10911)),
        ("127.0.0.1:9876", Address("127.0.0.1", 9876)),
        (" namesrv.example.org:65535\n", Address("namesrv.example.org", 65535)),
        ("[::1]:1", Address("::1", 1)),
        ("[fe80::1%eth0]:9876", Address("fe80::1%eth0", 9876)),
    ],
)
def test_it_reads_an_address_and_writes_it_back(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert str(address) == text.strip()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "host:port"),
        ("broker", "host:port"),
        (":9876", "host:port"),
        ("[]:9876", "host:port"),
        ("a b:9876", "host:port"),
        ("::1:9876", "brackets"),
        ("http://broker:9876", "brackets"),
        ("broker:", "port between"),
        ("broker:0", "port between"),
        ("broker:65536", "port between"),
        ("broker:0000080", "port between"),
        ("broker:-1", "port between"),
        ("broker:9876;other:9876", "brackets"),
        ("broker:٩", "port between"),
        ("broker:" + "9" * 5000, "port between"),
    ],
)
def test_it_refuses_what_is_no_address(text: str, why: str) -> None:
    with pytest.raises(LocalProtocolError, match=why):
        parse_address(text)
