"""What the bench of /metrics makes of the numbers that it is told."""

import pytest

from tests.bench.alerts import metrics

TOLD = {"first": 1.5, "warm": 1.2, "warm_piece": 0.6, "floor": 0.4, "lines": 370_100, "text_mib": 34.0, "mib": 200.0}


def test_each_number_stands_beside_what_it_is_measured_by() -> None:
    results = metrics._results(TOLD | {"before_mib": 150.0}, "10 groups: ")
    assert [(result.ours, result.beside_value) for result in results] == [
        (1.5, 2.0),
        (1.2, 0.4),
        (0.6, 1.2),
        (50.0, 34.0),
    ]


def test_a_scrape_of_next_to_nothing_is_no_measurement() -> None:
    with pytest.raises(SystemExit, match="the times say nothing"):
        metrics._results(TOLD | {"before_mib": 150.0, "lines": 12}, "10 groups: ")
