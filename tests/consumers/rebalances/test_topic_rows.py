"""REST's rows: one for each topic of a rebalance, and one for a rebalance of which no topic is known."""

import pytest

from consumers.rebalances.detail import rebalance_rows
from consumers.rebalances.rows import RebalanceFilters
from tests.rebalance_rows import a_moved_topic, a_rebalance
from tests.world import a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing():
    return a_group(a_cluster())


def pages(page_size: int) -> list[list[tuple[str, str | None]]]:
    first = rebalance_rows(RebalanceFilters(), page_size=page_size)
    numbers = range(1, -(-first.count // page_size) + 1)
    found = [rebalance_rows(RebalanceFilters(), page=number, page_size=page_size).rows for number in numbers]
    return [[(row.started_before.isoformat()[14:19], row.topic) for row in rows] for rows in found]


def test_a_rebalance_has_a_row_for_each_topic(billing):
    newer, older = a_rebalance(billing, ago(300)), a_rebalance(billing, ago(600))
    for event, topics in ((newer, ("Stock", "Orders")), (older, ("Orders",))):
        for topic in topics:
            a_moved_topic(event, topic)
    assert pages(2) == [[("55:00", "Orders"), ("55:00", "Stock")], [("50:00", "Orders")]]


def test_one_without_a_topic_has_a_row_that_says_so(billing):
    a_rebalance(billing)
    found = rebalance_rows(RebalanceFilters())
    [row] = found.rows
    assert (found.count, row.topic, row.queues_moved) == (1, None, None)
    assert row.unknown["topic"] == row.unknown["queues_moved"] == "no topic of the group was known then"


def test_evidence_carries_its_sentence_and_no_null(billing):
    a_moved_topic(a_rebalance(billing, evidence=[{"cause": "gone", "client_id": "a@1", "address": None}]))
    [row] = rebalance_rows(RebalanceFilters()).rows
    [evidence] = row.evidence
    assert evidence.keys() == {"cause", "client_id", "sentence"}
    assert evidence["sentence"].startswith("a@1 left or crashed between 02:49:45")


def test_every_null_has_its_reason(billing):
    fields = dict.fromkeys(("queues", "queues_moved", "replayed_messages", "lag_peak_messages"))
    a_moved_topic(a_rebalance(billing, settled_at=None, dated_at=None), **fields, unknown={"queues": "not sampled"})
    [row] = rebalance_rows(RebalanceFilters()).rows
    nulls = {name for name in row.__dataclass_fields__ if getattr(row, name) is None}
    assert nulls == row.unknown.keys()
    assert row.unknown["queues"] == "not sampled"


def test_it_asks_as_often_for_a_hundred_as_for_one(billing, django_assert_max_num_queries):
    for number in range(40):
        a_moved_topic(a_rebalance(billing, ago(600 + number)))
    with django_assert_max_num_queries(5):
        assert len(rebalance_rows(RebalanceFilters()).rows) == 40
