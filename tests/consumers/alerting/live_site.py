"""A whole site in processes of its own, as a launch starts them, with everything that can be killed under it."""

import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

from dashboard.demo.children import free_ports
from dashboard.launch import launcher
from dashboard.launch.supervisor import Program, Supervised, Supervisor
from tests.plugins.calling import PROJECT

PACE = {
    "CONSUMERSCOPE_POLL_SECONDS": "2",
    "ALERT_SECONDS": "1",
    "ALERT_DELIVERY_SECONDS": "5",
    "CONSUMERSCOPE_ALERT_NETWORKS": "127.0.0.0/8",
}


# What a person would do by four commands of manage.py.
SET_UP = """
import sys, django
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("cluster", "add", "live", namesrv=sys.argv[1])
User.objects.create_superuser("ann")
call_command("token", "create", "ann")
"""


class LiveSite:
    """Polls, evaluates, sends and serves; it judges nothing: no Spark is started."""

    def __init__(self, home: Path, namesrv: str) -> None:
        own = {"CONSUMERSCOPE_HOME": str(home), "DJANGO_SETTINGS_MODULE": "dashboard.settings", "PYTHONUNBUFFERED": "1"}
        # Sockets of Unix have short paths only.
        self._redis_socket = home / "r.sock"
        own |= {"PYTHONPATH": str(PROJECT), "REDIS_URL": f"unix://{self._redis_socket}"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE_URL", "REDIS_URL"))}
        self._environ = {**kept, **PACE, **own}
        self._port = free_ports(0)
        self._token = self._set_up(namesrv)
        self._programs: dict[str, Supervised] = {}
        self._stop = threading.Event()
        self._started = threading.Event()
        # Children die with the thread that started them.
        self._thread = threading.Thread(target=self._keep, args=(home / "logs",))

    def __enter__(self) -> "LiveSite":
        self._thread.start()
        assert self._started.wait(240)
        deadline = time.monotonic() + 240
        while not self._answers():
            assert time.monotonic() < deadline, "the site does not answer"
            time.sleep(0.2)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(240)

    def kill(self, name: str) -> None:
        """SIGKILL to all of the program; what keeps programs running starts it again."""
        child = self._programs[name].child
        if child is not None:
            child.kill()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        address = f"http://127.0.0.1:{self._port}/api/v1/{path}"
        headers = {"Authorization": f"Token {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=240) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def incidents(self) -> list[dict[str, Any]]:
        return list(self.ask("GET", "alerts/?page_size=1000")["results"])

    def _keep(self, logs: Path) -> None:
        supervisor = Supervisor(logs, print)
        environ = self._environ
        redis = launcher.redis_program(self._redis_socket, os.environ)
        wanted: list[Program] = [
            redis,
            launcher.web_program(self._port, environ),
            launcher.general_worker(environ),
            launcher.alerts_worker(environ),
            launcher.poll_worker(environ),
            launcher.beat_program(logs.parent, environ),
        ]
        for program in wanted:
            self._programs[program.name] = supervisor.start(program)
        self._started.set()
        try:
            while not self._stop.is_set():
                supervisor.watch()
        finally:
            supervisor.stop()

    def _answers(self) -> bool:
        try:
            self.ask("GET", "clusters/")
        except OSError:
            return False
        return True

    def _set_up(self, namesrv: str) -> str:
        """The token of somebody who may do everything."""
        command = [sys.executable, "-c", SET_UP, namesrv]
        done = subprocess.run(
            command, cwd=PROJECT, env=self._environ, capture_output=True, text=True, timeout=480, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]
