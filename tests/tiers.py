"""`python -m tests.tiers fast spark …`: each tier in a pytest of its own, then what passed, what was skipped and why.

A process per tier gives its memory back. Tiers run beside each other in two lanes: of those that mostly wait for real
clients, brokers and browsers two at once, and of those that only compute, on every processor, one after the other.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

from tests.jars_ahead import WANTED_BY, jars_on_their_way
from tests.plugins.migrated_once import FOLDER
from tests.plugins.postgres import postgres_url
from tests.plugins.statements import FOLDER as STATEMENTS

ROOT = Path(__file__).resolve().parent.parent
# A test with two marks belongs to the last of them; a live one that needs Spark has a tier of its own.
# Tests that start no JVM are spread over the processors, in their order: those that empty the database stay the last.
SPREAD = ["-n", "auto", "--dist", "load"]
UNMARKED = ["-m", "not spark and not live and not browser and not postgres"]
# What asks for every page, resource and address that there is, in many worlds or as everybody: a few hundred tests that
# take as long as thousands of others.
WHOLE_SITE = ("tests/access", "tests/fuzz", "tests/walk")
SELECTIONS = {
    "fast": [*SPREAD, *UNMARKED, *(f"--ignore={folder}" for folder in WHOLE_SITE)],
    "site": [*SPREAD, *UNMARKED, *WHOLE_SITE],
    "spark": ["--marked", "spark", "-m", "spark and not live and not browser and not postgres"],
    "live": ["--marked", "live", "-m", "live and not spark and not browser and not postgres"],
    # A live broker that Spark judges.
    "judged": [
        "--marked",
        "live",
        "--marked",
        "spark",
        "-m",
        "live and spark and not faults and not browser and not postgres",
    ],
    # A whole site, one fault after the other, in their order; in the short form the most telling ones.
    "faults": ["--marked", "faults", "-m", "faults", "-p", "no:randomly", "-s"],
    "short-faults": ["-m", "faults", "-p", "no:randomly", "-s", "tests/faults/test_faults.py"],
    "browser": ["--marked", "browser", "-m", "browser and not postgres"],
    # Tests of the tiers in RECORDED that use a database, once more, and those that are about PostgreSQL.
    "postgres": [*SPREAD, "-m", "not spark and not live and not browser", "--database-tests"],
}
# They mostly wait: for clients that rebalance, for Spark's processes, for a browser. The longest first; whichever ends,
# the next begins. Those with real clients do not all run at once: on two processors clients would miss heartbeats, and
# rebalance by themselves.
WAITING = ("browser", "live", "judged", "faults", "short-faults", "spark")
WAITING_AT_ONCE = 2
# They take every processor, so one at a time.
COMPUTING = ("fast", "site", "postgres")
# What has no real consumers leaves the processors to what has them, and deadlines of theirs: a third of another's share
# where there is not enough for all. With less than that, a long test would run out of its time.
PATIENT = (*COMPUTING, "browser", "spark")
GIVING_WAY = ["nice", "-n", "5"]
# They record what their tests send to SQLite. The tier of PostgreSQL comes after them, and sends each of these
# statements once.
RECORDED = ("fast", "site")
NOTHING_COLLECTED = 5
# Whoever makes a tier quicker begins there.
SLOWEST = ["--durations=15", "--durations-min=1"]
# What each of these is told about how many faults to make.
FAULTS = {"faults": "all", "short-faults": "short"}
# Tests use what they start themselves, never what the user works with.
# What keeps Python from keeping what it has compiled, as containers often do, would have every process begin anew.
USER_SETTINGS = (
    "PYTHONDONTWRITEBYTECODE",
    "DATABASE_URL",
    "REDIS_URL",
    "SPARK_MASTER",
    "CONSUMERSCOPE_LAKE",
    "PYTEST_ADDOPTS",
    STATEMENTS,
)


@dataclass
class Outcome:
    tier: str
    exit_code: int
    seconds: float
    cpu_seconds: float = 0.0
    tests: int = 0
    failed: int = 0
    skips: list[str] = field(default_factory=list)


_printing = threading.Lock()


def command_of(tier: str, report: Path) -> list[str]:
    pytest = [sys.executable, "-m", "pytest", "-q", f"--junit-xml={report}", *SLOWEST, *SELECTIONS[tier]]
    return [*GIVING_WAY, *pytest] if tier in PATIENT else pytest


def run_tier(tier: str, environ: Mapping[str, str], report: Path, aside: Path | None = None) -> Outcome:
    """What pytest prints goes to `aside`, where there is one, and is shown in one piece at the end."""
    command = command_of(tier, report)
    start = time.monotonic()
    if aside is None:
        print(f"\n=== {tier} tests", flush=True)
        exit_code, cpu_seconds = run_measured(command, environ, None)
    else:
        with aside.open("wb") as output:
            exit_code, cpu_seconds = run_measured(command, environ, output)
        with _printing:
            print(f"\n=== {tier} tests\n{aside.read_text(errors='replace')}", flush=True)
    outcome = Outcome(tier, 0 if exit_code == NOTHING_COLLECTED else exit_code, time.monotonic() - start, cpu_seconds)
    if report.exists():
        read_report(report, outcome)
    return outcome


def run_measured(command: list[str], environ: Mapping[str, str], output: IO[bytes] | None) -> tuple[int, float]:
    """The exit code, and the seconds of a processor that it and its children took, but for those that outlived it."""
    errors = subprocess.STDOUT if output else None
    with subprocess.Popen(command, cwd=ROOT, env=dict(environ), stdout=output, stderr=errors) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def read_report(report: Path, outcome: Outcome) -> None:
    for case in ElementTree.parse(report).iter("testcase"):
        outcome.tests += 1
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
        elif (skip := case.find("skipped")) is not None:
            outcome.skips.append(f"{case.get('classname')}.{case.get('name')}: {skip.get('message')}")


def users_home() -> Path:
    """Where the table of the faults stays, as that of the bench does."""
    home = Path(os.environ.get("CONSUMERSCOPE_HOME") or ROOT / "var")
    home.mkdir(parents=True, exist_ok=True)
    return home


@contextmanager
def surroundings(tier: str) -> Iterator[dict[str, str]]:
    """An environment of the tier's own: an empty home, and a PostgreSQL where the tier is about it."""
    environ = {name: value for name, value in os.environ.items() if name not in USER_SETTINGS}
    environ.setdefault("CONSUMERSCOPE_JARS", str(ROOT / "var" / "jars"))
    with tempfile.TemporaryDirectory(prefix=f"consumerscope-{tier}-") as home:
        if tier in FAULTS:
            environ |= {"FAULTS": FAULTS[tier], "FAULTS_REPORT": str(users_home() / "faults.json")}
        environ["CONSUMERSCOPE_HOME"] = home
        if tier == "postgres":
            with postgres_url() as url:
                yield {**environ, "DATABASE_URL": url}
        else:
            yield environ


def summary(outcomes: list[Outcome], seconds: float) -> str:
    """`seconds`: by the clock; tiers that run beside each other sum up to more. `cpu`: seconds of a processor."""
    lines = [f"\n{'tier':<14}{'tests':>7}{'failed':>8}{'skipped':>9}{'seconds':>9}{'cpu':>9}"]
    lines += [
        f"{o.tier:<14}{o.tests:>7}{o.failed:>8}{len(o.skips):>9}{o.seconds:>9.0f}{o.cpu_seconds:>9.0f}"
        + (f"   pytest ended with {o.exit_code}" if o.exit_code and not o.failed else "")
        for o in outcomes
    ]
    skips = [f"  {o.tier}: {skip}" for o in outcomes for skip in o.skips]
    lines += ["", "Skipped, and why:", *skips] if skips else ["", "Nothing was skipped."]
    tests, failed = sum(o.tests for o in outcomes), sum(o.failed for o in outcomes)
    lines.append(f"{tests - failed - len(skips)} passed, {failed} failed, {len(skips)} skipped in {seconds:.0f} s")
    return "\n".join(lines)


def lanes(tiers: Sequence[str]) -> dict[int, list[str]]:
    """The tiers of each lane in their order, by how many of them run at once; without a lane that has none."""
    both = {
        WAITING_AT_ONCE: [tier for tier in WAITING if tier in tiers],
        1: [tier for tier in COMPUTING if tier in tiers],
    }
    return {at_once: lane for at_once, lane in both.items() if lane}


def run_surrounded(tier: str, reports: Path, is_alone: bool, jars: "subprocess.Popen[bytes] | None") -> Outcome:
    if jars is not None and tier in WANTED_BY:
        jars.wait()
    with surroundings(tier) as environ:
        environ[FOLDER] = str(reports)
        if tier in (*RECORDED, "postgres"):
            environ[STATEMENTS] = str(reports)
        return run_tier(tier, environ, reports / f"{tier}.xml", None if is_alone else reports / f"{tier}.txt")


def main(tiers: list[str]) -> int:
    unknown = [tier for tier in tiers if tier not in SELECTIONS]
    if unknown or not tiers:
        print(f"Name tiers out of: {', '.join(SELECTIONS)}.", file=sys.stderr)
        return 2
    start = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        jars = stack.enter_context(jars_on_their_way(tiers))
        running = []
        for at_once, lane in lanes(tiers).items():
            pool = stack.enter_context(ThreadPoolExecutor(at_once))
            running += [pool.submit(run_surrounded, tier, folder, len(tiers) == 1, jars) for tier in lane]
        outcomes = [one.result() for one in running]
    outcomes.sort(key=lambda outcome: tiers.index(outcome.tier))
    print(summary(outcomes, time.monotonic() - start), flush=True)
    return 1 if any(outcome.exit_code for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
