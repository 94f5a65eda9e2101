"""Which clusters are watched: the user's own, else the demo's, whose name server has another port at each start."""

import io

from django.core.management import call_command

from consumers.models import Cluster

DEMO = "demo"
OWN = "default"


def user_has_clusters() -> bool:
    return Cluster.objects.exclude(name=DEMO).exists()


def watch(name: str, namesrv: str) -> None:
    """Registers the cluster, or changes its name servers. Raises CommandError where they are no addresses."""
    call_command("cluster", "add", name, namesrv=namesrv, stdout=io.StringIO())


def forget_demo() -> bool:
    """Without a demo its row would stand there as a cluster that is down. True when there was one."""
    return bool(Cluster.objects.filter(name=DEMO).delete()[0])
