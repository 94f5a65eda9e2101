import pytest

from consumers.ownership.rows import TimelineQueue
from dashboard.figures.ownership_timeline import row_ticks, topic_ends


def queues(*places: tuple[str, str, int]) -> list[TimelineQueue]:
    return [TimelineQueue(topic, broker, queue_id, []) for topic, broker, size in places for queue_id in range(size)]


@pytest.mark.parametrize(
    ("places", "labels"),
    [
        ([("Orders", "broker-a", 3)], ["0", "1", "2"]),
        ([("Orders", "broker-a", 2), ("Orders", "broker-b", 2)], ["broker-a / 0", "1", "broker-b / 0", "1"]),
        ([("Orders", "broker-a", 1), ("Refunds", "broker-a", 2)], ["Orders / 0", "Refunds / 0", "1"]),
        (
            [("Orders", "broker-a", 3), ("A-topic-with-a-long-name", "broker-b", 3)],
            ["Orders<br>broker-a / 0", "2", "A-topic-with…<br>broker-b / 0", "2"],
        ),
    ],
)
def test_a_queue_is_labelled_by_what_tells_it_from_the_others(
    places: list[tuple[str, str, int]], labels: list[str]
) -> None:
    assert row_ticks(queues(*places))["ticktext"] == labels


def test_a_line_stands_between_one_broker_and_the_next() -> None:
    places = queues(("Orders", "broker-a", 3), ("Orders", "broker-b", 2), ("Refunds", "broker-b", 2))
    assert [line["y0"] for line in topic_ends(places)] == [2.5, 4.5]


def test_a_thousand_queues_keep_the_names_of_their_brokers() -> None:
    ticks = row_ticks(queues(*(("Orders", f"broker-{name}", 250) for name in "abcd")))["ticktext"]
    assert [text for text in ticks if "broker" in text] == [f"broker-{name} / 0" for name in "abcd"]
