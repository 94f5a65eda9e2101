"""/metrics: no zero and no sample of what was not read, and a cause wherever one is absent."""

import pytest
from django.test import Client

from tests.exposition_parser import Samples, parsed

GROUP = {
    "lag_messages",
    "lag_messages_at_least",
    "time_lag_seconds",
    "members",
    "consume_rate",
    "produce_rate",
    "rebalances_hour",
    "rebalances_day",
    "minute_messages",
    "dlq_messages",
    "dlq_day_messages",
    "retry_share",
    "expired_messages",
    "never_committed_queues",
    "lost_queues",
    "expires_in_seconds",
    "drain_seconds",
    "expires_unconsumed_seconds",
    "dlq_inflow_messages",
    "unsettled_seconds",
    "unowned_queues",
    "doubly_owned_queues",
    "blocked_seconds",
}
# A broker that did not answer is down, and a reading that did not get it is not whole: both are known. So is how many
# incidents of a severity fire, once rules were evaluated, and that a channel took what was tried last. A group that is
# read has its offsets.
TRUE_ZEROS = {
    "consumerscope_broker_up",
    "consumerscope_reading_complete",
    "consumerscope_alerts_firing",
    "consumerscope_group_lost_queues",
    "consumerscope_alerts_channel_failing_seconds",
    "consumerscope_clock_changes",
    "consumerscope_expiry_held_seconds",
}
UNREAD = {"broker_unreachable", "broker_never_read", "broker_late", "no_broker", "not_read"}


@pytest.fixture
def samples(world: str, api: Client) -> Samples:
    return parsed(b"".join(api.get("/metrics").streaming_content).decode())  # type: ignore[attr-defined]


def test_no_metric_says_what_was_not_read(samples: Samples) -> None:
    assert [name for (name, _labels), value in samples.items() if value == 0 and name not in TRUE_ZEROS] == []
    of_group = {name.removeprefix("consumerscope_group_") for name, labels in samples if ("group", "billing") in labels}
    reasons = {
        dict(labels)["reason"]
        for name, labels in samples
        if name == "consumerscope_unknown" and ("group", "billing") in labels
    }
    assert "state" in of_group
    assert bool(GROUP - of_group) is bool(reasons)
    if reasons & UNREAD:
        assert of_group & GROUP <= {"lag_messages_at_least"}
