import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests import tiers
from tests.tiers import (
    ROOT,
    SELECTIONS,
    WHOLE_SITE,
    Outcome,
    command_of,
    lanes,
    main,
    read_report,
    run_measured,
    summary,
    surroundings,
)

REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_passes"/>
<testcase classname="tests.test_a" name="test_fails"><failure message="1 is not 2"/></testcase>
<testcase classname="tests.test_a" name="test_breaks"><error message="no database"/></testcase>
<testcase classname="tests.test_b" name="test_skips"><skipped message="no Chromium here"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def outcome(tmp_path: Path) -> Outcome:
    (tmp_path / "report.xml").write_text(REPORT)
    outcome = Outcome("browser", exit_code=1, seconds=12.3)
    read_report(tmp_path / "report.xml", outcome)
    return outcome


def test_it_counts_what_a_report_says(outcome: Outcome) -> None:
    assert (outcome.tests, outcome.failed) == (4, 2)


def test_it_names_what_was_skipped_and_why(outcome: Outcome) -> None:
    assert "  browser: tests.test_b.test_skips: no Chromium here" in summary([outcome], 12.3).splitlines()


def test_it_ends_with_one_line_for_all_tiers(outcome: Outcome) -> None:
    fast = Outcome("fast", exit_code=0, seconds=8, tests=10)
    assert summary([fast, outcome], 20.3).splitlines()[-1] == "11 passed, 2 failed, 1 skipped in 20 s"


def test_it_says_when_nothing_was_skipped() -> None:
    assert "Nothing was skipped." in summary([Outcome("fast", exit_code=0, seconds=8, tests=10)], 8)


def test_it_shows_a_pytest_that_ended_badly_without_a_failed_test() -> None:
    assert "pytest ended with 4" in summary([Outcome("fast", exit_code=4, seconds=0)], 0)


def test_it_refuses_a_tier_that_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slow"]) == 2
    assert capsys.readouterr().err == f"Name tiers out of: {', '.join(SELECTIONS)}.\n"


def test_every_mark_has_a_tier(pytestconfig: pytest.Config) -> None:
    own = {"spark", "live", "browser", "postgres", "faults"}
    declared = {line.split(":")[0] for line in pytestconfig.getini("markers")}
    assert own <= declared
    assert set(SELECTIONS) == {"fast", "site", "judged", "short-faults", *own}


def test_tiers_that_wait_run_beside_one_that_computes_the_longest_first() -> None:
    assert lanes(["postgres", "spark", "fast", "live"]) == {2: ["live", "spark"], 1: ["fast", "postgres"]}


def test_a_lane_without_a_tier_is_none() -> None:
    assert lanes(["spark"]) == {2: ["spark"]}


def test_every_tier_has_its_lane() -> None:
    assert sorted(tier for lane in lanes(list(SELECTIONS)).values() for tier in lane) == sorted(SELECTIONS)


@pytest.mark.parametrize(("tier", "told"), [("faults", "all"), ("short-faults", "short")])
def test_faults_are_written_down_in_the_home_of_the_user(
    tier: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONSUMERSCOPE_HOME", str(tmp_path))
    with surroundings(tier) as environ:
        assert (environ["FAULTS"], environ["FAULTS_REPORT"]) == (told, str(tmp_path / "faults.json"))
        assert environ["CONSUMERSCOPE_HOME"] != str(tmp_path)


@pytest.mark.parametrize("tier", SELECTIONS)
def test_what_has_no_real_consumers_gives_way(tier: str, tmp_path: Path) -> None:
    gives_way = command_of(tier, tmp_path / "report.xml")[0] == "nice"
    assert gives_way is (tier in {"fast", "site", "spark", "postgres", "browser"})


def test_processes_of_a_tier_keep_what_python_has_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    with surroundings("fast") as environ:
        assert "PYTHONDONTWRITEBYTECODE" not in environ


def test_they_start_without_django() -> None:
    subprocess.run([sys.executable, "-c", "import tests.tiers"], cwd=ROOT, check=True)


def test_tiers_of_a_run_share_a_migrated_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_tier(tier: str, environ: dict[str, str], *_: object) -> Outcome:
        assert environ["CONSUMERSCOPE_TESTS_MIGRATED"] == str(tmp_path)
        return Outcome(tier, 0, 1.0)

    monkeypatch.setattr(tiers, "run_tier", run_tier)
    assert [tiers.run_surrounded(tier, tmp_path, True, None).tier for tier in ("fast", "spark")] == ["fast", "spark"]


def test_the_tier_of_postgresql_waits_for_the_statements_that_others_record(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def run_tier(tier: str, environ: dict[str, str], *_: object) -> Outcome:
        folders.add(environ["CONSUMERSCOPE_TESTS_STATEMENTS"])
        done.append(tier)
        return Outcome(tier, 0, 1.0)

    folders: set[str] = set()
    monkeypatch.setattr(tiers, "run_tier", run_tier)
    monkeypatch.setattr(tiers, "postgres_url", lambda: nullcontext("postgres://"))
    assert main(["postgres", "site", "fast"]) == 0
    assert done == ["fast", "site", "postgres"]
    assert len(folders) == 1


def test_it_measures_the_processor_time_of_a_tier_and_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    work = "import time\nwhile time.process_time() < 0.3: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}]); sys.exit(3)"
    exit_code, seconds = run_measured([sys.executable, "-c", parent], os.environ, None)
    assert exit_code == 3
    assert seconds >= 0.3


def test_what_the_fast_tier_leaves_out_is_the_whole_of_the_tier_of_the_site() -> None:
    left_out = [option.removeprefix("--ignore=") for option in SELECTIONS["fast"] if option.startswith("--ignore=")]
    same = [option for option in SELECTIONS["fast"] if not option.startswith("--ignore=")]
    assert SELECTIONS["site"] == [*same, *left_out]
    assert left_out == [folder for folder in WHOLE_SITE if (ROOT / folder).is_dir()]
