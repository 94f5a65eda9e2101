"""Run as `python -m tests.bench.logs.follow_run LOG`: follows a log into the site's database, once, and prints what it
took as a line of JSON."""

import json
import os
import resource
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
KIB = 1024


def main(log: Path) -> None:
    from django.core.management import call_command

    from consumers.logs.follow import FollowRules, follow_cluster
    from consumers.models import Cluster, LogEvent, LogFile

    call_command("migrate", verbosity=0)
    now = datetime(2026, 11, 23, tzinfo=UTC)
    cluster = Cluster.objects.create(name="bench", namesrv="127.0.0.1:9876", created_at=now, client_logs=str(log))
    rules = FollowRules(2**40, 2**40, 10, timedelta(days=30), UTC)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    began = time.process_time()
    follow_cluster(cluster, now, rules)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    [file] = LogFile.objects.all()
    told = {"lines": file.lines, "event_lines": file.event_lines, "unknown_lines": file.unknown_lines}
    print(json.dumps({"seconds": seconds, "before": before, "peak": peak, "events": LogEvent.objects.count(), **told}))


if __name__ == "__main__":
    django.setup()
    main(Path(sys.argv[1]))
