"""GET /metrics: for how long members have been changing, and whom rules leave alone for it."""

from typing import Any

import pytest

from consumers.models import Cluster
from tests.dashboard.metrics.whole import Scrape, a_whole_group, of_group
from tests.rebalance_rows import a_rebalance, read_every
from tests.world import ago

pytestmark = pytest.mark.django_db
GOES_ON: dict[str, Any] = {"settled_at": None, "last_change_at": ago(40), "polls": 65}


@pytest.mark.parametrize("rollout", [False, True])
def test_it_says_how_long_and_whether_a_rollout_does_it(cluster: Cluster, scrape: Scrape, rollout: bool) -> None:
    read_every(15, cluster, 1100, 5)
    a_rebalance(a_whole_group(cluster), ago(1000), rollout=rollout, **GOES_ON)
    samples = of_group(scrape())
    assert samples["group_unsettled_seconds"] == 960
    assert ("group_excluded rollout" in samples) is rollout
    assert not [name for name in samples if name.startswith("unknown")]


def test_where_a_gap_makes_it_a_guess_it_is_absent_with_its_cause(cluster: Cluster, scrape: Scrape) -> None:
    cluster.readings.filter(taken_at__lt=ago(60)).delete()
    a_rebalance(a_whole_group(cluster), ago(1000), **GOES_ON)
    samples = of_group(scrape())
    assert "group_unsettled_seconds" not in samples
    assert samples["unknown unsettled_unknown"] == 1
