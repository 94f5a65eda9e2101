"""`python -m tests.jars_ahead`: fetches RocketMQ's jars that tests want, where they are missing.

Over a slow line that takes minutes, which are no test's own: a test would run out of its time for it.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dashboard.demo.cluster import ROCKETMQ_VERSION, ensure_jars, jars_folder
from dashboard.demo.java import DemoFailed, find_java
from tests.plugins.older_rocketmq import VERSIONS

ROOT = Path(__file__).resolve().parent.parent
# Tiers with tests of a real RocketMQ.
WANTED_BY = {"live", "judged", "browser", "faults", "short-faults"}


@contextmanager
def jars_on_their_way(tiers: Sequence[str]) -> Iterator["subprocess.Popen[bytes] | None"]:
    """Beside what the block does; None where nothing wants them."""
    if not WANTED_BY.intersection(tiers):
        yield None
        return
    with subprocess.Popen([sys.executable, "-m", "tests.jars_ahead"], cwd=ROOT, stdout=subprocess.DEVNULL) as fetching:
        try:
            yield fetching
        finally:
            fetching.terminate()


def main() -> int:
    """What cannot be fetched is told by the tests that want it, too."""
    try:
        java = find_java()
        for version in (ROCKETMQ_VERSION, *VERSIONS):
            ensure_jars(java, jars_folder(ROOT / "var"), progress=print, version=version)
    except DemoFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
