"""`manage.py aggregate`: one Spark run over a time range, in this process. The same range twice changes nothing."""

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from consumers.clock.watch import watch_clock
from consumers.models import Cluster
from consumers.pipeline.job import Report
from consumers.pipeline.runs import due_range, sentence
from consumers.pipeline.site import aggregate, site_durations
from consumers.polling.locks import Locked, lock
from consumers.tasks import PIPELINE, lock_seconds


class Command(BaseCommand):
    help = "Aggregates windows and judges states over a range; by default from the end of the last run until now."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--cluster", metavar="NAME")
        parser.add_argument("--since", metavar="T", help="ISO 8601 with a zone, such as 2026-03-01T02:00:00Z")
        parser.add_argument("--until", metavar="T", help="the same; the range ends just before it")
        parser.add_argument("--json", action="store_true", help="one JSON line")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        clusters = _clusters(options["cluster"])
        until = _moment("--until", options["until"]) or now
        since = _moment("--since", options["since"]) or due_range(until, site_durations())[0]
        if since >= until:
            raise CommandError(f"--since ({since.isoformat()}) must lie before --until ({until.isoformat()}).")
        watch_clock()
        try:
            with lock(PIPELINE, lock_seconds()):
                report, seconds = aggregate(clusters, since, until, now)
        except Locked:
            raise CommandError("Another run of the pipeline is not over; try again when it is.") from None
        except (PySparkException, Py4JError, OSError) as error:
            raise CommandError(sentence(error)) from error
        self.stdout.write(json.dumps(_fields(report, seconds)) if options["json"] else _in_words(report, seconds))


def _clusters(name: str | None) -> list[str]:
    chosen = Cluster.objects.filter(name=name) if name else Cluster.objects.all()
    names = list(chosen.values_list("name", flat=True))
    if not names:
        raise CommandError(
            f"There is no cluster {name!r}: 'manage.py cluster list' shows them."
            if name
            else "No cluster is registered: manage.py cluster add NAME --namesrv HOST:PORT"
        )
    return names


def _moment(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = parse_datetime(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise CommandError(f"{option} must be a time with a zone, such as 2026-03-01T02:00:00Z, not {text!r}.")
    return found


def _fields(report: Report, seconds: float) -> dict[str, Any]:
    return {
        "clusters": list(report.clusters),
        "since": report.since.isoformat(),
        "until": report.until.isoformat(),
        "readings": report.readings,
        "queues_judged": report.queues_judged,
        "groups_judged": report.groups_judged,
        "windows": report.windows,
        "rebalances": report.rebalances,
        "seconds": round(seconds, 3),
    }


def _in_words(report: Report, seconds: float) -> str:
    judged = f"{report.queues_judged:,} queues of {report.groups_judged:,} groups judged"
    without = f"; {report.unknown_rows:,} queues have no row of a poll yet" if report.unknown_rows else ""
    return f"{judged}, {report.windows:,} windows from {report.readings:,} readings in {seconds:.1f} s{without}"
