"""The programs of a site, and the clusters that they watch."""

import io
import sys
from collections.abc import Mapping
from glob import escape
from pathlib import Path

from django.core.management import call_command

from consumers.models import Cluster
from dashboard.launch.supervisor import Program

# The programs of a launch, as commands: the same that a container runs, on this machine's loopback.
HOST = "127.0.0.1"


def web_program(port: int, environ: Mapping[str, str]) -> Program:
    command = [sys.executable, "-m", "gunicorn", "dashboard.wsgi", "--bind", f"{HOST}:{port}"]
    command += ["--worker-class", "dashboard.patience.PatientWorker", "--workers", "2", "--threads", "4"]
    # Its control socket would lie in the user's own home.
    command += ["--graceful-timeout", "2", "--no-control-socket"]
    return Program("web", tuple(command), environ)


def worker_program(queue: str, pool: tuple[str, ...], environ: Mapping[str, str]) -> Program:
    command = [sys.executable, "-m", "celery", "-A", "dashboard", "worker", "-Q", queue, *pool]
    command += ["-n", f"{queue}@%h", "--without-gossip", "--without-mingle", "--loglevel", "INFO"]
    return Program(queue, tuple(command), environ)


def poll_worker(environ: Mapping[str, str]) -> Program:
    """Threads of one process: they share connections and what is known of each broker."""
    return worker_program("poll", ("-P", "threads", "-c", "4"), environ)


def general_worker(environ: Mapping[str, str]) -> Program:
    """An export or a re-send holds a thread for long; pages that wait for a look need one at once."""
    return worker_program("general", ("-P", "threads", "-c", "6"), environ)


def alerts_worker(environ: Mapping[str, str]) -> Program:
    """Rules are evaluated and messages sent, whatever else goes on. Six threads send at most: two are left."""
    return worker_program("alerts", ("-P", "threads", "-c", "8"), environ)


def spark_worker(environ: Mapping[str, str]) -> Program:
    """One process, one warm session, one run at a time."""
    return worker_program("spark", ("-P", "solo"), environ)


def beat_program(home: Path, environ: Mapping[str, str]) -> Program:
    command = [sys.executable, "-m", "celery", "-A", "dashboard", "beat", "--loglevel", "INFO"]
    command += ["--schedule", str(home / "celerybeat-schedule")]
    return Program("beat", tuple(command), environ)


def demo_program(environ: Mapping[str, str]) -> Program:
    return Program("demo", (sys.executable, "-m", "dashboard.demo"), environ)


# Which clusters are watched: the user's own, else the demo's, whose name server has another port at each start.
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
