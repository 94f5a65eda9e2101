"""`manage.py poll`: one reading of every cluster, in this process."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from consumers.clock.watch import watch_clock
from consumers.models import Cluster
from consumers.polling.locks import Locked, lock
from consumers.polling.poll import ClusterPoller, Poll, PollSettings
from consumers.words.reasons import stored_words

WHOLE, NOTHING, PARTIAL = 0, 1, 3
LOCK_SECONDS = 120


class Command(BaseCommand):
    help = "Reads every cluster, or one, now. Exit code 0: all whole, 3: partial, 1: nothing read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--cluster", metavar="NAME")
        parser.add_argument("--json", action="store_true", help="one JSON line per cluster")

    def handle(self, *args: Any, **options: Any) -> None:
        clusters = Cluster.objects.all()
        if options["cluster"]:
            clusters = clusters.filter(name=options["cluster"])
        if not clusters:
            name = options["cluster"]
            raise CommandError(
                f"There is no cluster {name!r}: 'manage.py cluster list' shows them."
                if name
                else "No cluster is registered: manage.py cluster add NAME --namesrv HOST:PORT"
            )
        watch_clock()
        polls = [self._poll(cluster) for cluster in clusters]
        for poll in polls:
            self.stdout.write(json.dumps(report(poll)) if options["json"] else sentence(poll))
        if all(poll.offsets.nothing_read for poll in polls):
            sys.exit(NOTHING)
        if not all(poll.offsets.complete for poll in polls):
            sys.exit(PARTIAL)

    def _poll(self, cluster: Cluster) -> Poll:
        try:
            with lock(f"poll:{cluster.name}", LOCK_SECONDS, renewed=True) as held:
                poller = ClusterPoller(cluster, PollSettings.of_site())
                try:
                    return poller.poll(timezone.now(), held.check)
                finally:
                    poller.close()
        except Locked:
            raise CommandError(f"{cluster.name} is being read by another process just now; try again.") from None


def report(poll: Poll) -> dict[str, Any]:
    row = poll.row
    return {
        "cluster": row.cluster.name,
        "taken_at": row.taken_at.isoformat(),
        "complete": row.complete,
        "error": row.error,
        "brokers": row.brokers,
        "queues": row.queues,
        "calls": row.calls,
        "bytes": row.bytes,
        "seconds": round(row.seconds, 4),
        "record_seconds": row.record_seconds and round(row.record_seconds, 4),
        "members": row.members,
    }


def sentence(poll: Poll) -> str:
    row = poll.row
    errors = [f"{broker['name']}: {stored_words(broker['error'])}" for broker in row.brokers if not broker["read"]]
    problems = [stored_words(row.error), *errors] if row.error else errors
    if poll.offsets.nothing_read:
        return f"{row.cluster.name}: nothing was read. {' '.join(problems)}"
    read = f"{row.cluster.name}: {row.queues:,} queues in {row.seconds:.2f} s ({row.calls} calls, {row.bytes:,} bytes)"
    members = f"{row.members['groups_read']} groups' members, {row.members['clients_read']} clients"
    return f"{read}; {members}" + (f". Not read: {' '.join(problems)}" if problems else "")
