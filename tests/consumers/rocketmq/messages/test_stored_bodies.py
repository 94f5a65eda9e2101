"""Compressed bodies are opened up to a limit, whatever they claim, and a damaged one says so."""

import tracemalloc
import zlib

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from consumers.rocketmq.messages.bodies import Compression, opened_body

ZLIB, LZ4, ZSTD = 0x301, 0x101, 0x201


def compressed(flag: int, body: bytes) -> bytes:
    if flag in (1, ZLIB):
        return zlib.compress(body)
    written = pa.BufferOutputStream()
    with pa.CompressedOutputStream(written, {LZ4: "lz4", ZSTD: "zstd"}[flag]) as stream:
        stream.write(body)
    return written.getvalue().to_pybytes()


KINDS = pytest.mark.parametrize(
    ("flag", "compression"),
    [(1, Compression.ZLIB), (ZLIB, Compression.ZLIB), (LZ4, Compression.LZ4), (ZSTD, Compression.ZSTD)],
)


@KINDS
@pytest.mark.parametrize("other_bits", [0, 0x30, 0x2])
def test_it_opens_what_the_flag_says(flag: int, compression: Compression, other_bits: int) -> None:
    opened = opened_body(compressed(flag, b"order 41" * 100), flag | other_bits, 10_000)
    assert opened.content == b"order 41" * 100
    assert (opened.size, opened.truncated, opened.compression, opened.error) == (800, False, compression, None)


def test_a_body_that_is_not_compressed_is_what_is_stored() -> None:
    opened = opened_body(b"\x78\x9cno zlib", 0x300, 100)
    assert (opened.content, opened.size, opened.compression) == (b"\x78\x9cno zlib", 9, Compression.NONE)


def test_the_size_of_a_plain_body_is_known_though_it_is_cut() -> None:
    opened = opened_body(b"x" * 500, 0, 100)
    assert (opened.content, opened.size, opened.truncated) == (b"x" * 100, 500, True)


@KINDS
def test_of_more_than_the_limit_only_the_limit_comes_out_and_the_size_is_unknown(
    flag: int, compression: Compression
) -> None:
    bomb = compressed(flag, bytes(50_000_000))
    opened = opened_body(bomb, flag, 1000)
    assert (len(opened.content), opened.truncated, opened.size, opened.error) == (1000, True, None, None)


@KINDS
def test_a_bomb_takes_no_more_memory_than_its_limit(flag: int, compression: Compression) -> None:
    bomb = compressed(flag, bytes(50_000_000))
    tracemalloc.start()
    try:
        opened_body(bomb, flag, 1000)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < len(bomb) + 500_000


@KINDS
@pytest.mark.parametrize(("limit", "truncated", "size"), [(799, True, None), (800, False, 800), (801, False, 800)])
def test_the_limit_is_inclusive(
    flag: int, compression: Compression, limit: int, truncated: bool, size: int | None
) -> None:
    opened = opened_body(compressed(flag, b"order 41" * 100), flag, limit)
    assert (opened.truncated, opened.size) == (truncated, size)


@KINDS
@pytest.mark.parametrize("cut", [0, 1, 5, -1])
def test_a_body_that_is_cut_short_says_so(flag: int, compression: Compression, cut: int) -> None:
    opened = opened_body(compressed(flag, b"order 41" * 100)[:cut], flag, 10_000)
    assert opened.error is not None
    assert f"compressed by {compression}, and cannot be opened: " in opened.error
    assert opened.size is None


@KINDS
def test_an_empty_body_is_known_to_be_empty(flag: int, compression: Compression) -> None:
    opened = opened_body(compressed(flag, b""), flag, 100)
    assert (opened.content, opened.size, opened.error) == (b"", 0, None)


@pytest.mark.parametrize("kind", [4, 5, 6, 7])
def test_a_kind_that_is_not_known_is_said(kind: int) -> None:
    opened = opened_body(b"x", 1 | kind << 8, 100)
    assert (opened.content, opened.size, opened.compression) == (b"", None, None)
    assert opened.error is not None
    assert f"type {kind}" in opened.error


@given(body=st.binary(max_size=3000), flag=st.sampled_from([0, 1, LZ4, ZSTD, ZLIB]), limit=st.integers(1, 4000))
def test_the_first_bytes_of_any_body_come_out(body: bytes, flag: int, limit: int) -> None:
    opened = opened_body(compressed(flag, body) if flag else body, flag, limit)
    assert (opened.content, opened.error) == (body[:limit], None)
    assert opened.truncated is (len(body) > limit)


@given(st.binary(max_size=200), st.sampled_from([1, LZ4, ZSTD]), st.integers(0, 60), st.integers(0, 255))
def test_damage_is_an_error_or_a_body_and_never_more_than_the_limit(
    body: bytes, flag: int, at: int, value: int
) -> None:
    broken = bytearray(compressed(flag, body))
    broken[at % len(broken)] = value
    opened = opened_body(bytes(broken), flag, 150)
    assert len(opened.content) <= 150
    assert opened.size is None or opened.error is None
