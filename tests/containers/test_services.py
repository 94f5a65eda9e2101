"""Runs what docker-compose.yml says, word for word, on a real PostgreSQL and a real Redis, without Docker."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from dashboard.demo.children import free_ports, start_child, stop_child
from dashboard.launch.launcher import answers, redis_program
from dashboard.launch.supervisor import Supervisor
from tests.containers.compose import PASSWORDS, ROOT, environment_of, own_services
from tests.plugins.postgres import postgres_url

pytestmark = pytest.mark.postgres

READY = {
    "web": "Listening at",
    "poll": " ready.",
    "general": " ready.",
    "alerts": " ready.",
    "spark": " ready.",
    "beat": "beat: Starting",
}
START_SECONDS = 600.0
# As a container's: what a health check calls $HOSTNAME.
HOSTNAME = os.uname().nodename


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of the services, with this machine's own addresses in place of the containers'."""
    home = tmp_path_factory.mktemp("home")
    supervisor = Supervisor(home / "logs", print)
    url = f"unix://{home / 'redis.sock'}"
    supervisor.start(redis_program(home / "redis.sock", os.environ))
    try:
        supervisor.wait_until(lambda: answers(url), seconds=60, otherwise="Redis did not start")
        with postgres_url() as database:
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            own = {"DATABASE_URL": database, "REDIS_URL": url, "CONSUMERSCOPE_HOME": str(home), "PATH": path}
            run_to_its_end("migrate", {**os.environ, **own})
            yield own
    finally:
        supervisor.stop()


def environment(service: dict[str, Any], surroundings: dict[str, str]) -> dict[str, str]:
    """As `.env` of a site that is reached by a name of its own."""
    said = environment_of(service, PASSWORDS | {"CONSUMERSCOPE_ALLOWED_HOSTS": "scope.example.org"})
    return {**os.environ, **said, **surroundings, "HOSTNAME": HOSTNAME}


def run_to_its_end(name: str, environ: dict[str, str]) -> str:
    command = own_services()[name]["command"]
    return subprocess.run(command, cwd=ROOT, env=environ, check=True, capture_output=True, text=True).stdout


def wait_for(text: str, log: Path, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while text not in log.read_text():
        assert child.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)


def ask_until_healthy(command: list[str], environ: dict[str, str]) -> str | None:
    """As containers are asked: a failure counts once they had the time to start. What the last one said, if any."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        answer = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return None
        if time.monotonic() > deadline:
            return answer.stdout + answer.stderr


@pytest.mark.parametrize("name", READY)
def test_a_service_starts_and_its_health_check_agrees(name: str, surroundings: dict[str, str], tmp_path: Path) -> None:
    # What beat asked for in another test would keep the Spark worker from answering in its own.
    redis.Redis.from_url(surroundings["REDIS_URL"]).flushall()
    service = own_services()[name]
    port = str(free_ports(0))
    environ = {**environment(service, surroundings), "GUNICORN_CMD_ARGS": f"--bind 127.0.0.1:{port}"}
    log = tmp_path / "log"
    child = start_child(["/usr/bin/env", *service["command"]], log=log, environ=environ)
    try:
        wait_for(READY[name], log, child)
        kind, *check = [word.replace("8000", port).replace("$$", "$") for word in service["healthcheck"]["test"]]
        command = ["sh", "-c", *check] if kind == "CMD-SHELL" else check
        complaint = ask_until_healthy(command, environ)
        assert complaint is None, complaint + log.read_text()
    finally:
        stop_child(child, grace_seconds=15)


def test_the_demo_is_registered(surroundings: dict[str, str]) -> None:
    environ = environment(own_services()["watch-demo"], surroundings)
    assert run_to_its_end("watch-demo", environ).startswith("Cluster demo added: namesrv:9876\n")
