"""Ports that are free, with those that a broker derives from them, and that nobody else is given."""

import os
import secrets
import socket
import subprocess
import sys

import pytest

from dashboard.demo.children import BLOCK, NoFreePort, are_free, free_ports

# Below those that servers are given, and of each process of a run its own.
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
FIRST = 10_000 + 1_000 * (WORKER % 8)
BLOCKS = set(range(FIRST, FIRST + 1_000, BLOCK))


def free_block() -> int:
    """The first of four ports that are free and that nobody was given before."""
    while True:
        block = secrets.choice(sorted(BLOCKS))
        BLOCKS.remove(block)
        if are_free([block + number for number in range(BLOCK)]):
            return block


def test_a_port_and_its_neighbours_can_be_bound() -> None:
    port = free_ports(-2, 0, 1)
    for offset in (-2, 0, 1):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port + offset))


@pytest.mark.parametrize("taken", [0, 2, 3])
def test_a_port_is_not_given_when_it_or_a_neighbour_is_taken(taken: int) -> None:
    block = free_block()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", block + taken))
        with pytest.raises(NoFreePort, match="end what listens there"):
            free_ports(-2, 0, 1, lowest=block, highest=block + BLOCK)
    assert free_ports(-2, 0, 1, lowest=block, highest=block + BLOCK) == block + 2


def test_no_port_is_given_twice_although_nothing_listens_there_yet() -> None:
    block = free_block()
    free_ports(0, lowest=block, highest=block + BLOCK)
    with pytest.raises(NoFreePort):
        free_ports(0, lowest=block, highest=block + BLOCK)


def test_no_port_of_one_process_is_given_to_another() -> None:
    block = free_block()
    free_ports(0, lowest=block, highest=block + BLOCK)
    ask = f"from dashboard.demo.children import free_ports; free_ports(0, lowest={block}, highest={block + BLOCK})"
    asked = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    assert "NoFreePort" in asked.stderr
