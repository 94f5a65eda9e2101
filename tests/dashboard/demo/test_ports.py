"""Ports that are free, with those that a broker derives from them."""

import socket

import pytest

from dashboard.demo.children import NoFreePort, free_ports


def test_a_port_and_its_neighbours_can_be_bound() -> None:
    port = free_ports(-2, 0, 1)
    for offset in (-2, 0, 1):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port + offset))


@pytest.mark.parametrize("offset", [-2, 0, 1])
def test_a_port_is_not_given_when_it_or_a_neighbour_is_taken(offset: int) -> None:
    port = free_ports(-2, 0, 1)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", port + offset))
        with pytest.raises(NoFreePort, match="end what listens there"):
            free_ports(-2, 0, 1, lowest=port, highest=port + 1)
