"""Run as `python -m tests.bench.alerts.metrics_scrapes GROUPS QUEUES`: scrapes /metrics of as many groups, in a
database of its own. Prints, as a line of JSON, seconds of the first scrape and of later ones, until the first piece
and in all, MiB held, lines, and what the same rows cost when nothing is judged."""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
TIMES = 5


def main(groups: int, queues: int) -> None:
    from django.core.management import call_command
    from django.db import connections

    from tests.bench.site_rows import fill, fill_members

    call_command("migrate", verbosity=0)
    now = datetime.now(UTC)
    fill_members(fill(groups, queues, now), now)
    # Else whoever reads first has to take in what this process wrote.
    connections.close_all()
    # Whoever only fills a database has not loaded what answers requests.
    os.execv(sys.executable, [sys.executable, "-m", "tests.bench.alerts.metrics_scrapes", "scrape", now.isoformat()])


def scrape(filled_at: datetime) -> None:
    # As the web server has at its start.
    import dashboard.wsgi  # noqa: F401
    from dashboard.metrics.exposition import exposition
    from dashboard.metrics.families import scrape as read

    def write() -> Iterator[str]:
        return exposition(read(filled_at).families)

    told: dict[str, Any] = {"before_mib": _most_mib()}
    told["first"], _, told["lines"], characters = _timed(write)
    told |= {"mib": _most_mib(), "text_mib": characters / 2**20}
    told["warm"], told["warm_piece"] = sorted(_timed(write)[:2] for _ in range(TIMES))[TIMES // 2]
    told["floor"] = _timed(_bare_lines)[0]
    print(json.dumps(told), flush=True)


def _timed(write: Callable[[], Iterator[str]]) -> tuple[float, float, int, int]:
    """Seconds in all and until the first piece; lines and characters. No piece is kept."""
    began = time.perf_counter()
    first, lines, characters = None, 0, 0
    for piece in write():
        first = first or time.perf_counter() - began
        lines, characters = lines + piece.count("\n"), characters + len(piece)
    return time.perf_counter() - began, first or 0.0, lines, characters


def _bare_lines() -> Iterator[str]:
    """As many lines of the rows of the same tables."""
    from django.db import connection

    with connection.cursor() as cursor:
        for table, lines in (("consumers_groupstate", 14), ("consumers_grouptotal", 8), ("consumers_client", 4)):
            cursor.execute(f"SELECT * FROM {table}")
            for row in cursor:
                yield "".join(f'metric{{cluster="bench",group="{row[0]}"}} {row[1]}\n' for _ in range(lines))
        for table in ("consumers_queuesnapshot", "consumers_queuestate"):
            cursor.execute(f"SELECT * FROM {table}")
            for row in cursor:
                yield f'metric{{cluster="bench",broker="broker-a",topic="{row[0]}",group="{row[1]}"}} {row[2]}\n'


def _most_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    django.setup()
    if sys.argv[1] == "scrape":
        scrape(datetime.fromisoformat(sys.argv[2]))
    else:
        main(int(sys.argv[1]), int(sys.argv[2]))
