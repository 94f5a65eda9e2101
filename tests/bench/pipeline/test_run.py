"""What the bench of a whole run makes of the numbers that it is told."""

import pytest

from tests.bench.pipeline import run

MEASURED = {
    "seconds": 0.5,
    "cpu_seconds": 0.75,
    "memory_mib": 900.0,
    "runs": 6,
    "most_seconds": 0.6,
    "queues": 49,
    "states": "3 of 7",
}


def test_each_number_stands_beside_its_goal() -> None:
    results = run._results(run.DEMO, MEASURED)
    assert [(result.ours, result.beside_value, result.ratio) for result in results] == [
        (0.5, 1.0, 2.0),
        (0.75, 1.5, 2.0),
    ]


def test_a_run_that_left_out_queues_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "python", lambda *words, **environ: '{"queues": 48}')
    with pytest.raises(SystemExit, match="48 queues were evaluated, not 49"):
        run._measured(*run.DEMO)
