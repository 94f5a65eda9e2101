"""`manage.py cluster add|list|remove`: the clusters that are watched. Nothing here connects anywhere."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from consumers.models import Cluster
from consumers.rocketmq.errors import LocalProtocolError
from consumers.rocketmq.names import parse_address


class Command(BaseCommand):
    help = "Adds, lists or removes the clusters that are watched."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="watch a cluster, or change its name servers")
        add.add_argument("name")
        add.add_argument("--namesrv", required=True, metavar="HOST:PORT[;…]")
        verbs.add_parser("list", help="show the clusters")
        remove = verbs.add_parser("remove", help="forget a cluster and its rows; its history in the lake stays")
        remove.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        match options["verb"]:
            case "add":
                self._add(options["name"], options["namesrv"])
            case "list":
                self._list()
            case "remove":
                self._remove(options["name"])

    def _add(self, name: str, namesrv: str) -> None:
        if not name or len(name) > 100 or "/" in name:
            raise CommandError("A cluster's name has 1 to 100 characters and no '/'.")
        addresses = [address.strip() for address in namesrv.split(";") if address.strip()]
        if not addresses:
            raise CommandError("--namesrv needs at least one HOST:PORT.")
        for address in addresses:
            try:
                parse_address(address)
            except LocalProtocolError as error:
                raise CommandError(f"--namesrv: {error}") from None
        _, created = Cluster.objects.update_or_create(
            name=name,
            defaults={"namesrv": ";".join(addresses)},
            create_defaults={"namesrv": ";".join(addresses), "created_at": timezone.now()},
        )
        self.stdout.write(f"Cluster {name} {'added' if created else 'changed'}: {'; '.join(addresses)}")

    def _list(self) -> None:
        clusters = list(Cluster.objects.all())
        if not clusters:
            self.stdout.write("No cluster yet: manage.py cluster add NAME --namesrv HOST:PORT")
        for cluster in clusters:
            self.stdout.write(f"{cluster.name}\t{cluster.namesrv}")

    def _remove(self, name: str) -> None:
        if not Cluster.objects.filter(name=name).delete()[0]:
            raise CommandError(f"There is no cluster {name!r}. 'manage.py cluster list' shows them.")
        self.stdout.write(f"Cluster {name} removed.")
