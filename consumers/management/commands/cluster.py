"""`manage.py cluster add|list|test|remove|forget-broker`: the clusters that are watched. Only `test` asks a cluster."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from consumers.clusters.connection import check_now
from consumers.jobs.asking import AnswerFailed
from consumers.jobs.wires import close_wires
from consumers.management.cluster_arguments import add_cluster_arguments, apply_cluster_arguments
from consumers.models import Cluster
from consumers.polling.locks import Locked, lock
from consumers.polling.record.stand_ins import BrokerStays, forget_broker
from consumers.polling.registration import WrongOption, checked_name, described

LOCK_SECONDS = 120


class Command(BaseCommand):
    help = "Adds, changes, lists or removes the clusters that are watched, and forgets brokers that they had."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add_cluster_arguments(verbs.add_parser("add", help="watch a cluster, or change what is named of a known one"))
        verbs.add_parser("list", help="show the clusters")
        verbs.add_parser("test", help="ask a cluster's name servers and brokers once").add_argument("name")
        remove = verbs.add_parser("remove", help="forget a cluster and its rows; its history in the lake stays")
        remove.add_argument("name")
        forget = verbs.add_parser("forget-broker", help="forget a broker that was taken out of its cluster for good")
        forget.add_argument("name", help="of the cluster")
        forget.add_argument("broker", help="its name")

    def handle(self, *args: Any, **options: Any) -> None:
        match options["verb"]:
            case "add":
                self._add(options)
            case "list":
                self._list()
            case "test":
                self._test(options["name"])
            case "remove":
                self._remove(options["name"])
            case "forget-broker":
                self._forget_broker(options["name"], options["broker"])

    def _add(self, options: dict[str, Any]) -> None:
        try:
            name = checked_name(options["name"])
            cluster = Cluster.objects.filter(name=name).first() or Cluster(name=name, created_at=timezone.now())
            apply_cluster_arguments(cluster, options)
        except WrongOption as error:
            raise CommandError(
                str(error) if error.option == "name" else f"--{error.option.replace('_', '-')}: {error}"
            ) from None
        verb = "changed" if cluster.pk else "added"
        cluster.save()
        said = [cluster.namesrv.replace(";", "; "), *described(cluster)]
        self.stdout.write(f"Cluster {name} {verb}: {', '.join(said)}")
        self.stdout.write(f"Test the connection: manage.py cluster test {name}")

    def _list(self) -> None:
        clusters = list(Cluster.objects.all())
        if not clusters:
            self.stdout.write("No cluster yet: manage.py cluster add NAME --namesrv HOST:PORT")
        for cluster in clusters:
            said = ", ".join(described(cluster))
            self.stdout.write("\t".join([cluster.name, cluster.namesrv, *([said] if said else [])]))

    def _test(self, name: str) -> None:
        cluster = Cluster.objects.filter(name=name).first()
        if cluster is None:
            raise CommandError(f"There is no cluster {name!r}. 'manage.py cluster list' shows them.")
        try:
            found = check_now(cluster)
        except AnswerFailed as why:
            raise CommandError(str(why)) from None
        finally:
            close_wires()
        for one in found.calls:
            peer = f"{one.peer or 'name server'} {one.address}"
            self.stdout.write(f"{peer}\t{one.call}\t{one.problem or 'answered'}")
            if one.cure:
                self.stdout.write(f"\t{one.cure_words}")
        if found.left_out:
            self.stdout.write(f"{found.left_out} more brokers were not asked.")
        if found.failures:
            raise CommandError(f"{len(found.failures)} of {len(found.calls)} calls failed.")

    def _remove(self, name: str) -> None:
        if not Cluster.objects.filter(name=name).delete()[0]:
            raise CommandError(f"There is no cluster {name!r}. 'manage.py cluster list' shows them.")
        self.stdout.write(f"Cluster {name} removed.")

    def _forget_broker(self, name: str, broker: str) -> None:
        cluster = Cluster.objects.filter(name=name).first()
        if cluster is None:
            raise CommandError(f"There is no cluster {name!r}. 'manage.py cluster list' shows them.")
        try:
            # A reading that is under way would write the broker's row again.
            with lock(f"poll:{name}", LOCK_SECONDS):
                queues = forget_broker(cluster, broker)
        except BrokerStays as reason:
            raise CommandError(str(reason)) from None
        except Locked:
            raise CommandError(f"{name} is being read by another process just now; try again.") from None
        self.stdout.write(
            f"{broker} of {name} forgotten, with {queues} queues. A name server that still lists it brings it back."
        )
