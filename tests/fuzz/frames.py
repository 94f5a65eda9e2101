"""Damaged frames, bodies and offset files for everything that reads them: `python -m tests.fuzz frames 1000000`.

Whatever comes, a parser gives a value or raises what it says it raises, soon, and no text that a database cannot keep.
Each damage has a number: `python -m tests.fuzz frames 1 SEED:NUMBER` does that one again.
"""

import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from types import FrameType

from tests.fuzz.growth import grows_too_fast
from tests.fuzz.mutations import damaged
from tests.fuzz.targets import TARGETS, Target, Wrong, texts_of

SEED = 20260314
# Of the processor's time, so that a busy machine finds nothing.
SLOW_SECONDS, HANGS_SECONDS = 0.5, 10.0
# PostgreSQL keeps neither.
NO_TEXT = re.compile("[\x00\ud800-\udfff]")
EXAMPLES = 20


class Hangs(BaseException):
    """So much of the processor's time went by."""


@dataclass
class Found:
    """`broken`: by what went wrong, how often; `examples`: the first of each."""

    taken: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    slowest: tuple[float, str] = (0.0, "nothing")

    def breaks(self, what: str, example: str) -> None:
        self.broken[what] += 1
        self.examples.setdefault(what, example)


def search(seed: int, numbers: Iterator[int] | range, targets: Sequence[Target] = TARGETS) -> Found:
    found = Found()
    with hanging_is_noticed():
        for number in numbers:
            random = Random(f"{seed}:{number}")
            target = targets[number % len(targets)]
            attempt(found, target, damaged(random, target.seeds), f"{seed}:{number}")
    return found


def attempt(found: Found, target: Target, body: bytes, name: str) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, HANGS_SECONDS)
    began = time.process_time()
    try:
        if any(map(NO_TEXT.search, texts_of(target.take(body)))):
            raise Wrong("a text with a NUL or half of a character")
        found.taken[target.name] += 1
    except target.raises as error:
        found.refused[target.name] += 1
        if NO_TEXT.search(str(error)):
            found.breaks(f"{target.name}: an error whose sentence is no text", f"{name} {body[:200]!r}")
    except (Exception, Hangs) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename.rsplit('/', 1)[-1]}:{where.lineno}"
        found.breaks(f"{target.name}: {type(error).__name__} at {place}: {error!s:.80}", f"{name} {body[:200]!r}")
    seconds = time.process_time() - began
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if seconds > found.slowest[0]:
        found.slowest = seconds, f"{target.name} with {len(body)} bytes, {name}"
    if seconds > SLOW_SECONDS:
        found.breaks(f"{target.name}: slow", f"{seconds:.2f} s for {len(body)} bytes, {name} {body[:200]!r}")


@contextmanager
def hanging_is_noticed() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Hangs(f"it takes more than {HANGS_SECONDS:g} s")

    before: Callable[[int, FrameType | None], object] | int | None = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def main(arguments: Sequence[str]) -> int:
    count = int(arguments[0]) if arguments else 100_000
    seed, _, first = arguments[1].partition(":") if len(arguments) > 1 else (str(SEED), "", "")
    start, memory = int(first or 0), _peak_mib()
    began, processor = time.perf_counter(), time.process_time()
    found = search(int(seed), range(start, start + count))
    print(f"{'target':24} {'taken':>9} {'refused':>9}")
    for target in TARGETS:
        print(f"{target.name:24} {found.taken[target.name]:9,} {found.refused[target.name]:9,}")
    print(
        f"{count:,} from {seed}:{start}: {sum(found.taken.values()):,} taken, {sum(found.refused.values()):,} refused, "
        f"{sum(found.broken.values()):,} broken in {time.perf_counter() - began:.0f} s "
        f"({time.process_time() - processor:.0f} s of processor); "
        f"slowest {found.slowest[0]:.3f} s ({found.slowest[1]}); memory {memory:.0f} to {_peak_mib():.0f} MiB"
    )
    for what, times in found.broken.most_common(EXAMPLES):
        print(f"\n{times:,} × {what}\n  {found.examples[what]}", file=sys.stderr)
    # Timed, so it is no test: a busy machine would fail it.
    slow = list(grows_too_fast())
    for sentence in slow:
        print(f"\n{sentence}", file=sys.stderr)
    return 1 if found.broken or slow else 0


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
