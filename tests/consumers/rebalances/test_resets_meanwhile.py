"""A rebalance that only a reset explains says so."""

import pytest

from consumers.models import ConsumerGroup
from consumers.rebalances.detail import rebalance_detail, rebalance_rows
from consumers.rebalances.events import rebalance_list
from consumers.rebalances.rows import RebalanceFilters
from tests.rebalance_rows import a_rebalance
from tests.reset_rows import a_reset
from tests.world import a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
UNKNOWN = {"cause": "unknown", "evidence": [{"cause": "unknown"}]}
RESET = "during the reset by ops, 02:49:35 UTC (orders were lost)"


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


def sentences(group: ConsumerGroup, at: str) -> list[str]:
    """As the list, the detail and REST have it."""
    filters = RebalanceFilters()
    detail = rebalance_detail("prod", group.name, at)
    assert detail is not None
    [row] = rebalance_rows(filters).rows
    return [rebalance_list(filters).rows[0].sentence, detail.evidence[0].sentence, row.evidence[0]["sentence"]]


def test_the_reset_that_went_on_as_it_began_is_named(billing: ConsumerGroup) -> None:
    a_rebalance(billing, **UNKNOWN)
    a_reset(billing, started_at=ago(625), finished_at=ago(590))
    for sentence in sentences(billing, "2026-03-14T02:50:00.000000Z"):
        assert RESET in sentence
        assert "nothing that was read" not in sentence


@pytest.mark.parametrize(
    ("began", "ended"), [(599, None), (700, 616)], ids=["it began after it", "it had ended before it"]
)
def test_a_reset_at_another_time_explains_nothing(billing: ConsumerGroup, began: float, ended: float | None) -> None:
    a_rebalance(billing, **UNKNOWN)
    a_reset(billing, started_at=ago(began), finished_at=None if ended is None else ago(ended))
    for sentence in sentences(billing, "2026-03-14T02:50:00.000000Z"):
        assert "no evidence of the cause" in sentence


def test_the_reset_of_another_group_explains_nothing(billing: ConsumerGroup) -> None:
    a_rebalance(billing, **UNKNOWN)
    a_reset(a_group(billing.cluster, "checkout"), started_at=ago(625))
    assert RESET not in sentences(billing, "2026-03-14T02:50:00.000000Z")[0]


def test_a_cause_that_is_known_stays(billing: ConsumerGroup) -> None:
    a_rebalance(billing)
    a_reset(billing, started_at=ago(625))
    assert "joined" in sentences(billing, "2026-03-14T02:50:00.000000Z")[0]
