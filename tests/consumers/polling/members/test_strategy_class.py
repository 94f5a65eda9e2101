"""What is kept of the strategy that a client prints."""

import pytest

from consumers.polling.members.client_round import strategy_class


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        (None, None),
        ("", None),
        (
            "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@73830414",
            "AllocateMessageQueueAveragely",
        ),
        ("com.acme.AllocateMessageQueueAveragely@1b", "com.acme.AllocateMessageQueueAveragely"),
        ("com.acme.Main$$Lambda$14/0x000000080012a440@6d06d69c", "com.acme.Main$$Lambda$14/0x000000080012a440"),
        ("Sharing{password=secret}", "a class that does not print its name"),
        (f"com.{'x' * 120}.Sharing@1b", f"{'x' * 92}.Sharing"),
    ],
)
def test_a_class_of_rocketmqs_own_loses_its_package(printed, kept):
    assert strategy_class(printed) == kept
