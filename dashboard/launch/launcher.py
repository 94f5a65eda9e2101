"""The launch, in order: what a person looks at first comes first, and nothing is begun that cannot go on."""

import contextlib
import http.client
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connections

from . import clusters, programs, redis_server
from .admin_user import ensure_admin
from .demo_watch import DemoWatch
from .ground import check_port, check_socket_path, only_one
from .supervisor import Supervisor
from .surroundings import child_environment
from .trouble import LaunchFailed, StopAsked

REDIS_SECONDS = 20.0
WEB_SECONDS = 120.0
# It may have to fetch 90 MB of jars over a slow line first.
DEMO_SECONDS = 1800.0

Say = Callable[[str], None]


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
            check_port(programs.HOST, self.port)
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
        supervisor.start(programs.web_program(self.port, environ))
        self._wait_for_web(supervisor)
        self.say(f"Consumerscope answers at http://{programs.HOST}:{self.port}/  ({sign_in})")
        supervisor.start(programs.general_worker(environ))
        supervisor.start(programs.alerts_worker(environ))
        supervisor.start(programs.spark_worker(environ))
        watch = self._start_demo(supervisor, environ) if demo else None
        supervisor.start(programs.poll_worker(environ))
        supervisor.start(programs.beat_program(self.home, environ))
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
            if not redis_server.answers(self.redis_url):
                raise LaunchFailed("The Redis of REDIS_URL does not answer: start it, or unset REDIS_URL.")
            return
        socket = self.home / "redis.sock"
        check_socket_path(socket)
        redis_server.clear_stale_socket(socket)
        redis = supervisor.start(redis_server.redis_program(socket, self.environ))
        supervisor.wait_until(
            lambda: redis_server.answers(f"unix://{socket}"),
            seconds=REDIS_SECONDS,
            otherwise=f"Redis does not answer: see {redis.log}.",
        )

    def _choose_clusters(self) -> bool:
        """True where the demo shall run: no cluster was named, and the user has registered none."""
        if self.namesrv is not None:
            clusters.watch(clusters.OWN, self.namesrv)
        if not clusters.user_has_clusters():
            return True
        if clusters.forget_demo():
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
        demo = supervisor.start(programs.demo_program(environ))
        watch = DemoWatch(demo.log, say=self.say, serves=self._watch_demo)

        def is_up() -> bool:
            watch.look()
            return watch.is_up

        supervisor.wait_until(is_up, seconds=DEMO_SECONDS, otherwise=f"The demo does not start: see {demo.log}.")
        return watch

    def _watch_demo(self, namesrv: str) -> None:
        clusters.watch(clusters.DEMO, namesrv, clusters.demo_offset_files(self.home))
        connections.close_all()
        self.say(f"The demo cluster serves (name server {namesrv}); its story shows within five minutes")


def _page_answers(port: int) -> bool:
    connection = http.client.HTTPConnection(programs.HOST, port, timeout=5)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
