"""Run as `python -m dashboard.bench.read_cluster NAMESRV READINGS PIDS`: polls with a database and lake of its own.

Prints one line of JSON per reading, with the CPU seconds that the processes PIDS spent meanwhile.
"""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")


def main(namesrv: str, readings: int, pids: list[int]) -> None:
    from django.core.management import call_command
    from django.utils import timezone

    from consumers.models import Cluster
    from consumers.polling.poll import ClusterPoller
    from consumers.polling.settings import PollSettings

    from .reading import cpu_seconds

    call_command("migrate", verbosity=0)
    cluster = Cluster.objects.create(name="bench", namesrv=namesrv, created_at=timezone.now())
    poller = ClusterPoller(cluster, PollSettings.of_site())
    for _ in range(readings):
        before = cpu_seconds(pids)
        row = poller.poll(timezone.now()).row
        if not row.complete:
            raise SystemExit(f"The reading is not whole: {row.error or row.brokers}")
        spent = cpu_seconds(pids) - before
        names = ("seconds", "record_seconds", "calls", "bytes", "queues")
        print(json.dumps({**{name: getattr(row, name) for name in names}, "broker_cpu": spent}), flush=True)
    poller.close()


if __name__ == "__main__":
    django.setup()
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
