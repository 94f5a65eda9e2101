"""What the bench of rebalances makes of the numbers that it is told."""

from typing import Any

import pytest

from tests.bench.pipeline.rebalances import _line

MEASURED: dict[str, Any] = {
    "seconds": 0.5,
    "cpu": 0.4,
    "floor": 0.1,
    "files": 48,
    "rows": 700,
    "rebalances": 20,
    "moved": 20,
}


def test_a_run_stands_beside_the_bare_reading() -> None:
    line = _line(MEASURED, 2000, 20)
    assert (line.name, line.ours, line.beside_value) == ("2,000 groups, 20 changed", 0.5, 0.1)


@pytest.mark.parametrize("name", ["rebalances", "moved"])
def test_a_run_that_did_not_find_every_rebalance_is_no_measurement(name: str) -> None:
    with pytest.raises(SystemExit, match="the time says nothing"):
        _line({**MEASURED, name: 19}, 2000, 20)
