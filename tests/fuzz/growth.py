"""Bodies that are one piece many times over: what takes them needs time and memory in proportion to their size."""

import contextlib
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass

from tests.fuzz.targets import TARGETS, Target

SMALL_BYTES, LARGE_BYTES = 1 << 15, 1 << 18
# Eight times the size may take so many times as long: twice what is in proportion, and what measuring errs by.
MOST_TIMES, ERROR_SECONDS = 16.0, 0.05
# A small number in Python takes 28 bytes, an entry of an object a good hundred.
MOST_BYTES_EACH = 400


@dataclass(frozen=True)
class Pump:
    start: bytes
    piece: bytes
    end: bytes = b""

    def of(self, size: int) -> bytes:
        return self.start + self.piece * (size // len(self.piece)) + self.end


TABLE = b'{"offsetTable":{'
PUMPS = (
    Pump(b"", b"["),
    Pump(b"", b'{"a":'),
    Pump(b"", b'"'),
    Pump(b'"', b"a"),
    Pump(b'"', b"\\"),
    Pump(b'"', rb"\u00e9", b'"'),
    Pump(b"", b" "),
    Pump(b"", b"9"),
    Pump(b"", b"0,"),
    Pump(b"[0", b",0", b"]"),
    Pump(b"[{}", b",{}", b"]"),
    Pump(b"", b"a=b\n"),
    Pump(b"", b"1s "),
    Pump(b"", b"\0"),
    Pump(TABLE + b'"a@b":{0:1', b",0:1", b"}}}"),
    Pump(TABLE + b'"a@b":{"0":1', b',"0":1', b"}}}"),
    Pump(TABLE + b'"a@b":{0:1}', b',"a@b":{0:1}', b"}}"),
    Pump(TABLE + b'"a@b":{}', b',"a@b":{}', b"}}"),
    Pump(TABLE + b'"a":1', b',"a":1', b"}}"),
    Pump(TABLE + b'"a@b":{0:1}', b',\n"a@b":\n{0:\n1}', b"}}"),
    Pump(TABLE, b',"a@'),
    Pump(TABLE, b'"offsetTable":{'),
    Pump(TABLE + b'{"queueId":0}:1', b',{"queueId":0}:1', b"}}"),
    Pump(TABLE, b"{"),
)


def measured(target: Target, body: bytes) -> float:
    """Seconds of the processor."""
    began = time.process_time()
    with contextlib.suppress(*target.raises):
        target.take(body)
    return time.process_time() - began


def grows_too_fast(targets: tuple[Target, ...] = TARGETS) -> Iterator[str]:
    for target in targets:
        for pump in PUMPS:
            small, large = measured(target, pump.of(SMALL_BYTES)), measured(target, pump.of(LARGE_BYTES))
            if large > MOST_TIMES * small + ERROR_SECONDS:
                yield f"{target.name} takes {small:.3f} s, then {large:.3f} s of eight times as many {pump.piece!r}"


def takes_too_much(targets: tuple[Target, ...] = TARGETS) -> Iterator[str]:
    """Memory of Python's own at the peak."""
    for target in targets:
        for pump in PUMPS:
            body = pump.of(SMALL_BYTES)
            tracemalloc.start()
            measured(target, body)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            if peak > MOST_BYTES_EACH * len(body) + (1 << 20):
                yield f"{target.name} takes {peak / len(body):.0f} bytes for each of many {pump.piece!r}"
