"""Run as `python -m tests.bench.operations.reset_run NAMESRV ADDRESS GROUP TOPIC…`: plans and applies resets of all
queues of these, in a database of its own. Prints, as a line of JSON, how many seconds each part took, and the
queues."""

import json
import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
# Before every message: the broker searches, and ends at the first.
LONG_AGO = "2020-01-01T00:00:00Z"


def main(namesrv: str, address: str, name: str, *topics: str) -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from consumers.jobs.hold import close_wires
    from consumers.models import Broker, Cluster, ConsumerGroup, ResetKind, Topic

    call_command("migrate", verbosity=0)
    now = datetime.now(UTC)
    ann = User.objects.create(username="bench", is_superuser=True)
    cluster = Cluster.objects.create(name="bench", namesrv=namesrv, created_at=now)
    Broker.objects.create(cluster=cluster, name="broker-a", broker_id=0, address=address, last_read_at=now)
    ConsumerGroup.objects.create(cluster=cluster, name=name, kind="user", first_seen_at=now)
    for topic in topics:
        Topic.objects.create(cluster=cluster, name=topic, kind="normal", first_seen_at=now)
    # Once unmeasured: connections and what is loaded.
    _plan(name, topics, ann, ResetKind.OFFSET, 5)
    by_time, _ = _plan(name, topics, ann, ResetKind.TIME, LONG_AGO)
    seconds, planned = _plan(name, topics, ann, ResetKind.EARLIEST, None)
    told = {"plan": seconds, "plan by time": by_time, **_applied(planned, ann)}
    close_wires()
    print(json.dumps(told), flush=True)


def _plan(name: str, topics: tuple[str, ...], user: Any, kind: Any, value: Any) -> tuple[float, Any]:
    from django.utils import timezone

    from consumers.models import ResetStatus
    from consumers.resets.planning.run import run_plan
    from consumers.resets.request import request_plan
    from consumers.resets.target_values import Asker, ResetRequest

    began = time.perf_counter()
    wish = ResetRequest(kind, value, "a bench", topics=topics)
    reset = request_plan("bench", name, wish, Asker(user, None, "rest"), timezone.now())
    run_plan(reset.pk, timezone.now)
    seconds = time.perf_counter() - began
    reset.refresh_from_db()
    if reset.status != ResetStatus.PLANNED:
        raise SystemExit(f"It is {reset.status}: {reset.error}")
    return seconds, reset


def _applied(planned: Any, user: Any) -> dict[str, float]:
    from django.utils import timezone

    from consumers.models import ResetOutcome, ResetQueue, ResetStatus
    from consumers.resets.acts import apply
    from consumers.resets.applying.run import run
    from consumers.resets.target_values import Asker

    began = time.perf_counter()
    apply(planned, Asker(user, None, "rest"), planned.group_name, timezone.now())
    run(planned.pk, timezone.now, time.sleep)
    whole = time.perf_counter() - began
    planned.refresh_from_db()
    rows = ResetQueue.objects.filter(reset=planned)
    confirmed = rows.filter(outcome=ResetOutcome.CONFIRMED).count()
    if planned.status != ResetStatus.APPLIED or confirmed != rows.count():
        raise SystemExit(f"It is {planned.status}, {confirmed} of {rows.count()} queues are confirmed.")
    written = [at for at in rows.values_list("written_at", flat=True) if at is not None]
    return {"write": (max(written) - planned.started_at).total_seconds(), "whole": whole, "queues": rows.count()}


if __name__ == "__main__":
    django.setup()
    main(*sys.argv[1:])
