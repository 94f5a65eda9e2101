"""Which strategy a class is, and of which nothing can be computed."""

import pytest

from consumers.rocketmq.allocation import Averagely, AveragelyByCircle, ConsistentHash, NotSimulable, named_strategy


@pytest.mark.parametrize(
    ("class_name", "strategy", "name"),
    [
        ("AllocateMessageQueueAveragely", Averagely(), "AVG"),
        ("AllocateMessageQueueAveragelyByCircle", AveragelyByCircle(), "AVG_BY_CIRCLE"),
        ("AllocateMessageQueueConsistentHash", ConsistentHash(10), "CONSISTENT_HASH"),
    ],
)
def test_the_class_names_the_strategy(class_name, strategy, name):
    assert named_strategy(class_name) == strategy
    assert strategy.name == name


@pytest.mark.parametrize(
    ("class_name", "why"),
    [
        ("AllocateMessageQueueByConfig", "CONFIG"),
        ("AllocateMessageQueueByMachineRoom", "MACHINE_ROOM"),
        ("AllocateMachineRoomNearby", "MACHINE_ROOM_NEARBY"),
        ("com.acme.AllocateMessageQueueAveragely", "com.acme.AllocateMessageQueueAveragely is not a strategy"),
        ("Main$$Lambda$14/0x01", "is not a strategy of RocketMQ's own"),
    ],
)
def test_it_says_why_a_strategy_cannot_be_computed(class_name, why):
    strategy = named_strategy(class_name)
    assert isinstance(strategy, NotSimulable)
    assert why in strategy.reason
