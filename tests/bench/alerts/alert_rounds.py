"""Run as `python -m tests.bench.alerts.alert_rounds GROUPS QUEUES RULES CHANGES`: evaluates rules over as many groups,
in a database of its own. Prints, as a line of JSON, how many seconds each round took, and what it found."""

import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
INCIDENTS = 10_000
EVERY = timedelta(seconds=15)
# Numbers that no group of the bench has but those that are made to.
FAR = {"lag_messages": 100_000, "time_lag_seconds": 600, "drain_seconds": 86_400, "retry_share": 0.5}


def main(groups: int, queues: int, rules: int, changes: int) -> None:
    from django.core.management import call_command

    from consumers.models import AlertRule
    from tests.bench.site_rows import be_behind, fill, read_again

    call_command("migrate", verbosity=0)
    now = datetime.now(UTC)
    cluster = fill(groups, queues, now)
    AlertRule.objects.all().delete()
    AlertRule.objects.bulk_create(_rules(rules, now))
    _channel(now)
    told: dict[str, Any] = {"floor": _bare_rows(), "rules": AlertRule.objects.count()}
    # Once unmeasured: what is loaded.
    _evaluated(now)
    for name, seconds in (("calm", None), ("begin", 1200.0), ("go on", 1200.0), ("end", None)):
        now += EVERY
        read_again(now)
        if name in ("begin", "end"):
            be_behind(cluster, changes, seconds, now)
        told[name] = _evaluated(now)
    told |= _found()
    told["page"] = _page(now)
    print(json.dumps(told), flush=True)


def _evaluated(now: datetime) -> float:
    from consumers.alerts.evaluation.run import evaluate

    began = time.perf_counter()
    evaluate(now, lambda: datetime.now(UTC))
    return time.perf_counter() - began


def _rules(count: int, now: datetime) -> list[Any]:
    """Half of them on what changes; every kind of number and state among them."""
    from consumers.models import AlertRule

    measures = ["time_lag_seconds", "state", "lag_messages", "drain_seconds", "retry_share", "dlq_inflow_messages",
                "members", "unknown_seconds", "rebalance_episodes_hour", "unowned_queues", "doubly_owned_queues",
                "blocked_seconds", "expires_in_seconds", "expired_messages", "unsettled_seconds",
                "expires_unconsumed_seconds"]  # fmt: skip
    made = []
    for number in range(count):
        measure = measures[number % len(measures)]
        compared: dict[str, Any] = {"comparison": "above", "threshold": FAR.get(measure, 300)}
        if measure == "state":
            compared = {"comparison": "in", "states": ["STALL", "STOP"]}
        elif measure in ("members", "expires_in_seconds", "expires_unconsumed_seconds"):
            compared = {"comparison": "below", "threshold": 1}
        rule = AlertRule(name=f"Rule {number}", measure=measure, severity="warning", clear_seconds=0, **compared)
        rule.changed_at = now
        made.append(rule)
    return made


def _channel(now: datetime) -> None:
    """That is told of everything; nothing is sent: no worker runs."""
    from consumers.models import Channel

    Channel.objects.create(name="bench", kind="webhook", target="nowhere", sealed="", changed_at=now)


def _bare_rows() -> float:
    """The same groups' totals and states read once, and nothing done with them."""
    from consumers.models import GroupState

    began = time.perf_counter()
    rows = GroupState.objects.values_list(
        "group__name", "group__cluster__name", "state", "time_lag_seconds", "drain_seconds", "retry_share",
        "group__members", "group__total__lag_messages", "group__total__expired_messages",
    )  # fmt: skip
    for _ in rows.iterator(chunk_size=2000):
        pass
    return time.perf_counter() - began


def _page(now: datetime) -> float:
    """The slowest order of a page of `INCIDENTS`, each the quickest of three."""
    from consumers.alerts.queries.incidents import IncidentFilters, incident_list
    from consumers.models import AlertRule, ConsumerGroup
    from tests.alert_rows import many_incidents

    many_incidents(AlertRule.objects.all()[0], ConsumerGroup.objects.all()[0], INCIDENTS)
    slowest = 0.0
    for ordering in (None, "severity", "-group"):
        spent = []
        for _ in range(3):
            began = time.perf_counter()
            incident_list(IncidentFilters(ordering=ordering), now, page=3)
            spent.append(time.perf_counter() - began)
        slowest = max(slowest, min(spent))
    return slowest


def _found() -> dict[str, int]:
    from consumers.models import Delivery, Incident, IncidentEvent

    return {
        "incidents": Incident.objects.count(),
        "open": Incident.objects.filter(resolved_at=None).count(),
        "events": IncidentEvent.objects.count(),
        "deliveries": Delivery.objects.count(),
    }


if __name__ == "__main__":
    django.setup()
    main(*map(int, sys.argv[1:]))
