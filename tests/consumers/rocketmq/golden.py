"""Answers that a real RocketMQ sent; tests/data/golden/README.md says which."""

from pathlib import Path

from consumers.rocketmq.wire.frames import Command, FrameReader

FOLDER = Path(__file__).parents[2] / "data" / "golden"


def golden(name: str) -> Command:
    reader = FrameReader()
    reader.receive((FOLDER / f"{name}.frame").read_bytes())
    command = reader.next_command()
    assert command is not None
    return command
