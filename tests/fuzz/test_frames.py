"""The short form of `python -m tests.fuzz frames`, and that it finds what it looks for."""

import time
from collections.abc import Callable
from random import Random

import pytest

from consumers.rocketmq.wire.codes import RemoteProtocolError
from tests.fuzz.frames import SEED, Found as FoundFrames, attempt, hanging_is_noticed, search
from tests.fuzz.growth import grows_too_fast, takes_too_much
from tests.fuzz.mutations import damaged
from tests.fuzz.targets import TARGETS, Target

SHORT = 26_000


def test_damaged_frames_bodies_and_files_break_nothing() -> None:
    found = search(SEED, range(SHORT))
    assert not found.broken, found.examples


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_what_was_damaged_is_taken_where_it_was_not(target: Target) -> None:
    for seed in target.seeds:
        target.take(seed)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_memory_grows_as_the_size_does(target: Target) -> None:
    assert list(takes_too_much((target,))) == []


def _breaks(body: bytes) -> object:
    raise KeyError(body)


def _refuses(body: bytes) -> object:
    raise RemoteProtocolError("no body")


def _hangs(body: bytes) -> object:
    while True:
        time.process_time()


def _holds_a_nul(body: bytes) -> object:
    return {"remark": ["a\0b"]}


@pytest.mark.parametrize(
    ("take", "what"),
    [(_breaks, "KeyError"), (_hangs, "Hangs"), (_holds_a_nul, "a text with a NUL"), (_refuses, "")],
)
def test_it_finds_what_a_parser_must_not_do(
    take: Callable[[bytes], object], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fuzz.frames.HANGS_SECONDS", 0.05)
    found = FoundFrames()
    with hanging_is_noticed():
        attempt(found, Target("a parser", [b"{}"], take), b"{}", "1:1")
    assert [what in sentence for sentence in found.broken] == ([True] if what else [])


def test_it_finds_a_parser_that_is_quadratic() -> None:
    def take(body: bytes) -> object:
        parts: list[bytes] = []
        for _ in body[::8]:
            parts = [*parts, body[:1]]
        return len(parts)

    assert next(grows_too_fast((Target("a parser", [b"{}"], take),))).startswith("a parser takes")


def test_the_same_number_is_the_same_damage() -> None:
    once, again = (damaged(Random("7:3"), TARGETS[0].seeds) for _ in range(2))
    assert once == again
