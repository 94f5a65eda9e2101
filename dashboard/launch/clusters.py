"""Which clusters are watched: the user's own, else the demo's, whose name server has another port at each start."""

import io
from glob import escape
from pathlib import Path

from django.core.management import call_command

from consumers.models import Cluster

DEMO = "demo"
OWN = "default"


def user_has_clusters() -> bool:
    return Cluster.objects.exclude(name=DEMO).exists()


def watch(name: str, namesrv: str, offset_files: str | None = None) -> None:
    """Registers the cluster, or changes what is named of it. Raises CommandError where that makes no sense."""
    call_command("cluster", "add", name, namesrv=namesrv, offset_files=offset_files, stdout=io.StringIO())


def demo_offset_files(home: Path) -> str | None:
    """Globs of the files that the demo's broker and its broadcasting members write; None where none can say it."""
    folder = str(home / "demo")
    if ";" in folder:
        return None
    place = escape(folder)
    return f"broker-a={place}/broker-a/store/config/*Offset.json;{place}/rocketmq_offsets/*/*/offsets.json"


def forget_demo() -> bool:
    """Without a demo its row would stand there as a cluster that is down. True when there was one."""
    return bool(Cluster.objects.filter(name=DEMO).delete()[0])
