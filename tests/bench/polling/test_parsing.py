"""What the parsing bench measures is really read, and its bodies are as large as it says."""

import json
import random

from consumers.rocketmq.bodies.offsets import broker_offsets_table, consumer_offsets_table
from tests.bench.polling.parsing import QUEUES, broker_body, consumer_body, run, standard_body

SMALL = 20_000


def test_every_offset_of_its_bodies_is_read() -> None:
    offsets = {"T@g": [5, 0], "U@h": [7]}
    assert consumer_offsets_table(consumer_body(offsets))["consumer_offset"].to_pylist() == [5, 0, 7]
    ends = broker_offsets_table(broker_body(random.Random(1), SMALL))
    assert ends["queue_id"].to_pylist()[: QUEUES + 1] == [*range(QUEUES), 0]


def test_its_standard_body_is_json_of_the_size_that_was_asked_for() -> None:
    body = standard_body(SMALL)
    assert SMALL <= len(body) < SMALL + 500
    assert all(len(queues) == QUEUES for queues in json.loads(body).values())


def test_it_has_a_line_for_each_way_of_reading() -> None:
    lines = run(SMALL)
    assert [line.name for line in lines] == [
        "43 read afresh",
        "43 after another, one key in ten moved",
        "43 after the same",
        "bulk 208",
    ]
    assert all(line.ours > 0 and line.beside == "json.loads" for line in lines)
