"""Damages bytes in the ways that peers, disks and people do. The same random numbers give the same damage."""

import re
from collections.abc import Callable, Sequence
from random import Random

LONGEST = 1 << 16
_NUMBERS = re.compile(rb"-?[0-9]+")
NUMBERS = (
    b"-1",
    b"0",
    b"00",
    b"1e400",
    b"1.5",
    b"2147483648",
    b"-2147483649",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"9" * 19,
    b"9" * 5000,
    b"NaN",
    b"true",
    b"null",
    b'"7"',
)
TOKENS = (
    *(bytes([mark]) for mark in b'{}[]:,"\\@=\n '),
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    rb"\u0000",
    rb"\ud800",
    rb"\udc00\ud800",
    b"null",
    b"{}",
    b"[]",
    b'{"":0}:',
    b'"offsetTable":{',
    b"@broadcast",
    b"// note",
    b"\x01\x02",
)
INT32 = (0, 1, -1, 2**31 - 1, -(2**31), 255, 65536)

Damage = Callable[[Random, bytes], bytes]


def damaged(random: Random, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds after one to four damages; one in fifty is nothing but random bytes."""
    if random.random() < 0.02:
        return random.randbytes(random.randrange(200))
    body = random.choice(seeds)
    if random.random() < 0.1:
        other = random.choice(seeds)
        body = body[: random.randrange(len(body) + 1)] + other[random.randrange(len(other) + 1) :]
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        body = random.choice(DAMAGES)(random, body)
    return body[:LONGEST]


def _flipped(random: Random, body: bytes) -> bytes:
    if not body:
        return body
    at = random.randrange(len(body))
    return body[:at] + bytes([body[at] ^ 1 << random.randrange(8)]) + body[at + 1 :]


def _set(random: Random, body: bytes) -> bytes:
    at = random.randrange(len(body) + 1)
    return body[:at] + bytes([random.randrange(256)]) + body[at + 1 :]


def _cut(random: Random, body: bytes) -> bytes:
    return body[: random.randrange(len(body) + 1)]


def _without(random: Random, body: bytes) -> bytes:
    start = random.randrange(len(body) + 1)
    return body[:start] + body[start + random.randrange(1, 40) :]


def _twice(random: Random, body: bytes) -> bytes:
    start = random.randrange(len(body) + 1)
    part = body[start : start + random.randrange(1, 200)]
    times = random.choice((1, 1, 2, 30))
    return body[:start] + part * times + body[start:]


def _inserted(random: Random, body: bytes) -> bytes:
    at = random.randrange(len(body) + 1)
    return body[:at] + random.choice(TOKENS) * random.choice((1, 1, 1, 100)) + body[at:]


def _renumbered(random: Random, body: bytes) -> bytes:
    found = list(_NUMBERS.finditer(body))
    if not found:
        return body
    match = random.choice(found)
    return body[: match.start()] + random.choice(NUMBERS) + body[match.end() :]


def _other_length(random: Random, body: bytes) -> bytes:
    at = random.randrange(len(body) + 1)
    return body[:at] + random.choice(INT32).to_bytes(4, "big", signed=True) + body[at + 4 :]


DAMAGES: tuple[Damage, ...] = (
    _flipped,
    _set,
    _cut,
    _without,
    _twice,
    _inserted,
    _renumbered,
    _other_length,
)
