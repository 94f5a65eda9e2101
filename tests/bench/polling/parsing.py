"""Bodies of five megabytes into columns, beside Python's own JSON parser on a standard body of the same size."""

import json
import random
import time
from collections.abc import Callable

from consumers.rocketmq.bodies.offsets import OffsetMemory, broker_offsets_table, consumer_offsets_table
from tests.bench.result import Result

QUEUES, MESSAGES = 16, 10**10
SIZE = 5_000_000
TIMES = 7

Offsets = dict[str, list[int]]


def run(size: int = SIZE) -> list[Result]:
    chance = random.Random(1)
    offsets = _offsets(chance, size)
    body, moved = consumer_body(offsets), consumer_body(_one_in_ten_moved(chance, offsets))
    ends = broker_body(chance, size)
    cases: list[tuple[str, bytes, Callable[[], object]]] = [
        ("43 read afresh", body, lambda: consumer_offsets_table(body)),
        ("43 after another, one key in ten moved", moved, _after(body, moved)),
        ("43 after the same", body, _after(body, body)),
        ("bulk 208", ends, lambda: broker_offsets_table(ends)),
    ]
    return [_line(name, answer, work) for name, answer, work in cases]


def consumer_body(offsets: Offsets) -> bytes:
    keys = (f'"{key}":{{{",".join(f"{q}:{o}" for q, o in enumerate(queues))}}}' for key, queues in offsets.items())
    return f'{{"dataVersion":{{"counter":0}},"offsetTable":{{{",".join(keys)}}}}}'.encode()


def broker_body(chance: random.Random, size: int) -> bytes:
    entries: list[str] = []
    length = 0
    while length < size:
        topic, queue = divmod(len(entries), QUEUES)
        entries.append(
            f'{{"brokerName":"broker-a","queueId":{queue},"topic":"BenchTopic{topic:05d}"}}:'
            f'{{"brokerOffset":{chance.randrange(MESSAGES)},"consumerOffset":0,"lastTimestamp":0,"pullOffset":0}}'
        )
        length += len(entries[-1]) + 1
    return f'{{"consumeTps":0.0,"offsetTable":{{{",".join(entries)}}}}}'.encode()


def standard_body(size: int) -> bytes:
    """Names and numbers as the bodies hold them, with the quotes that standard JSON wants."""
    chance, length = random.Random(2), 0
    keys: dict[str, dict[str, int]] = {}
    while length < size:
        key = f"BenchTopic{len(keys) % 1000:05d}@bench-group-{len(keys):05d}"
        keys[key] = {str(queue): chance.randrange(MESSAGES) for queue in range(QUEUES)}
        length += len(json.dumps({key: keys[key]}, separators=(",", ":"))) - 1
    return json.dumps(keys, separators=(",", ":")).encode()


def _offsets(chance: random.Random, size: int) -> Offsets:
    offsets: Offsets = {}
    length = 0
    while length < size:
        key = f"BenchTopic{len(offsets) % 1000:05d}@bench-group-{len(offsets):05d}"
        offsets[key] = [chance.randrange(MESSAGES) for _ in range(QUEUES)]
        length += len(key) + 6 + sum(len(f"{q}:{o},") for q, o in enumerate(offsets[key]))
    return offsets


def _one_in_ten_moved(chance: random.Random, offsets: Offsets) -> Offsets:
    return {key: [o + 1 for o in queues] if chance.random() < 0.1 else queues for key, queues in offsets.items()}


def _after(first: bytes, second: bytes) -> Callable[[], object]:
    """Reading `second` with a memory that holds `first`, which must not cost anything here."""
    memories = [OffsetMemory() for _ in range(TIMES + 1)]
    for memory in memories:
        memory(first)
    return lambda: memories.pop()(second)


def _line(name: str, body: bytes, work: Callable[[], object]) -> Result:
    ours, standard = _seconds(work), standard_body(len(body))
    beside = _seconds(lambda: json.loads(standard))
    note = f"{len(body):,} bytes; json.loads: {len(standard):,} bytes"
    return Result(name, ours * 1e3, "ms", "json.loads", beside * 1e3, beside / ours, note)


def _seconds(work: Callable[[], object]) -> float:
    """The quickest of several: what the work itself takes."""
    work()
    times = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)
