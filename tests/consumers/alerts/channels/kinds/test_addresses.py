"""Which addresses channels may send to."""

import ipaddress
import socket
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from consumers.alerts.channels.kinds.addresses import NotResolved, WrongAddress, checked_addresses, is_allowed
from consumers.words.reasons import stored_words

NOT_PUBLIC = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4"),
    *("240.0.0.0/4", "192.88.99.0/24", "255.255.255.255/32"),
    *("::/128", "::1/128", "::/96", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16"),
    *("64:ff9b:1::/48", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "2001:10::/28", "2001:20::/28"),
    *("::ffff:10.0.0.0/104", "::ffff:127.0.0.0/104", "64:ff9b::127.0.0.0/104", "64:ff9b::10.0.0.0/104"),
]
# Python 3.11 knows of no reason why these should not be public.
NOT_GIVEN_OUT = ["4000::1", "a000::1"]
PUBLIC = ["1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::200e"]


@pytest.mark.parametrize("network", NOT_PUBLIC)
@settings(max_examples=8)
@given(any_number=st.integers(0, 2**128 - 1))
def test_no_address_of_a_special_network_is_allowed(network: str, any_number: int) -> None:
    within = ipaddress.ip_network(network)
    assert not is_allowed(within[any_number % within.num_addresses], [])
    assert not any(is_allowed(within[place], []) for place in (0, -1))


@pytest.mark.parametrize("text", NOT_GIVEN_OUT)
def test_an_address_that_nobody_was_given_is_not_allowed(text: str) -> None:
    assert not is_allowed(ipaddress.ip_address(text), [])


@pytest.mark.parametrize("text", [*PUBLIC, "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"])
def test_public_addresses_are_allowed(text: str) -> None:
    assert is_allowed(ipaddress.ip_address(text), [])


@given(st.ip_addresses(v=4))
def test_an_address_in_one_of_ipv6_is_judged_as_itself(inner: ipaddress.IPv4Address) -> None:
    for prefix in ("::ffff:0:0", "64:ff9b::"):
        outer = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | int(inner))
        assert is_allowed(outer, []) == is_allowed(inner, [])


@given(st.ip_addresses())
def test_what_python_calls_not_global_is_never_allowed(address: Any) -> None:
    inner = getattr(address, "ipv4_mapped", None) or address
    assert inner.is_global or not is_allowed(address, [])


@pytest.mark.parametrize(
    ("network", "text", "allowed"),
    [
        ("10.0.0.0/8", "10.2.3.4", True),
        ("10.0.0.0/8", "::ffff:10.2.3.4", True),
        ("10.0.0.0/8", "192.168.0.1", False),
        ("fd00::/8", "fd00::1", True),
        ("fd00::/8", "10.0.0.1", False),
        ("0.0.0.0/0", "::1", False),
        ("::/0", "127.0.0.1", False),
        ("::/0", "::ffff:127.0.0.1", False),
    ],
)
def test_a_network_that_the_site_names_is_allowed_and_no_other(network: str, text: str, allowed: bool) -> None:
    assert is_allowed(ipaddress.ip_address(text), [ipaddress.ip_network(network)]) == allowed


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the system's resolver answers: the edge where the network begins."""
    found: list[str] = []

    def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        if not found:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, port)) for text in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return found


def test_one_private_address_among_public_ones_is_enough_to_refuse(answers: list[str]) -> None:
    answers += ["93.184.216.34", "10.0.0.1", "1.1.1.1"]
    with pytest.raises(WrongAddress) as raised:
        checked_addresses("hooks.example.org", 443, [], 1)
    words = stored_words(str(raised.value))
    assert words.startswith("hooks.example.org is 10.0.0.1, which is not a public address")


def test_an_address_that_stands_for_itself_is_named_once(answers: list[str]) -> None:
    answers += ["10.0.0.1"]
    with pytest.raises(WrongAddress) as raised:
        checked_addresses("10.0.0.1", 443, [], 1)
    assert stored_words(str(raised.value)).startswith("10.0.0.1 is not a public address")


def test_public_answers_come_back_in_their_order_and_once(answers: list[str]) -> None:
    answers += ["93.184.216.34", "1.1.1.1", "93.184.216.34"]
    assert checked_addresses("hooks.example.org", 443, [], 1) == ["93.184.216.34", "1.1.1.1"]


def test_an_address_with_a_zone_is_refused(answers: list[str]) -> None:
    answers += ["fe80::1%lo"]
    with pytest.raises(WrongAddress):
        checked_addresses("hooks.example.org", 443, [ipaddress.ip_network("fe80::/10")], 1)


def test_a_name_without_an_address_is_told_as_such(answers: list[str]) -> None:
    with pytest.raises(NotResolved) as raised:
        checked_addresses("nowhere.example.org", 443, [], 1)
    assert stored_words(str(raised.value)).startswith("nowhere.example.org has no address")


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "localhost"])
def test_the_resolver_is_not_fooled_by_other_ways_to_write_this_machine(host: str) -> None:
    with pytest.raises((WrongAddress, NotResolved)):
        checked_addresses(host, 80, [], 5)
