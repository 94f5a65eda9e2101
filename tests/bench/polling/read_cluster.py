"""Run as `python -m tests.bench.polling.read_cluster PLAN` (JSON of a Plan): polls with a database and lake of its own.

Prints one line of JSON per reading: what it cost, with the CPU seconds that the brokers spent meanwhile.
"""

import asyncio
import json
import os
import random
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import django

from tests.bench.polling.populate import Size
from tests.bench.polling.traffic import Commit, commit
from tests.bench.processes import cpu_seconds

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
NAMES = ("seconds", "record_seconds", "calls", "bytes", "queues", "members")


@dataclass(frozen=True)
class Plan:
    """`still` readings while nothing moves, then `moving` ones, each after one offset in ten was committed anew."""

    namesrv: str
    brokers: dict[str, int]  # process id by address
    size: Size
    messages: int
    still: int
    moving: int


def main(plan: Plan) -> None:
    from django.core.management import call_command
    from django.utils import timezone

    from consumers.models import Cluster
    from consumers.polling.poll import ClusterPoller, PollSettings

    call_command("migrate", verbosity=0)
    cluster = Cluster.objects.create(name="bench", namesrv=plan.namesrv, created_at=timezone.now())
    poller = ClusterPoller(cluster, PollSettings.of_site())
    pids = list(plan.brokers.values())
    for moved in steps(plan):
        before = cpu_seconds(pids)
        row = poller.poll(timezone.now()).row
        if not row.complete:
            raise SystemExit(f"The reading is not whole: {row.error or row.brokers}")
        cost = {name: getattr(row, name) for name in NAMES} | {"broker_cpu": cpu_seconds(pids) - before}
        print(json.dumps({**cost, "moved": moved, "memory_mib": memory_mib()}), flush=True)
    poller.close()


def steps(plan: Plan) -> Iterator[int]:
    """The number of offsets that moved before each reading."""
    yield from [0] * plan.still
    for number in range(plan.moving):
        moved = 0
        for place, address in enumerate(plan.brokers):
            commits = one_in_ten(plan, random.Random(number * len(plan.brokers) + place))
            asyncio.run(commit(address, commits))
            moved += len(commits)
        yield moved


def one_in_ten(plan: Plan, chance: random.Random) -> list[Commit]:
    size = plan.size
    return [
        (size.group(number), topic, queue, chance.randint(1, plan.messages))
        for number in range(size.groups)
        for topic in size.topics_of(number)
        for queue in range(size.queues)
        if chance.random() < 0.1
    ]


def memory_mib() -> float:
    """The most that this process, and the largest of its children, held at a time."""
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


if __name__ == "__main__":
    django.setup()
    wanted = json.loads(sys.argv[1])
    main(Plan(**{**wanted, "size": Size(**wanted["size"])}))
