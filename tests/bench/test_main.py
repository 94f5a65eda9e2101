import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.bench.__main__ import benches, main, table_lines, write_json
from tests.bench.result import Result

READING = Result("one reading", 0.42, "s", "mqadmin consumerProgress", 21.0, 50.0, "500 groups")


def test_it_finds_what_can_be_run_and_nothing_else() -> None:
    assert "reading" in benches()
    assert not {"result", "populate", "pipeline"} & set(benches())


def test_a_line_of_the_table_shows_both_sides() -> None:
    line = " ".join(table_lines([READING])[0].split())
    assert line == "one reading 0.42 s 21 s 50.0 mqadmin consumerProgress 500 groups"


def test_it_writes_what_was_measured_and_where(tmp_path: Path) -> None:
    write_json(tmp_path / "bench.json", datetime(2026, 3, 1, tzinfo=UTC), {"reading": [READING]})
    written = json.loads((tmp_path / "bench.json").read_text())
    assert written["taken_at"] == "2026-03-01T00:00:00+00:00"
    assert written["results"][0]["bench"] == "reading"
    assert written["results"][0]["beside_value"] == 21.0
    assert {"cores", "machine", "python"} <= written.keys()


def test_it_refuses_a_bench_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coffee"]) == 2
    assert "There is no bench coffee: name some of " in capsys.readouterr().err
