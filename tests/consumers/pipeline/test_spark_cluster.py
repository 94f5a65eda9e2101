"""The pipeline's buckets on a Spark cluster: a master and two workers of Spark's own, with nothing of the project.

The lake lies in a folder that all of them see, and again in S3, which is all that a cluster of machines has in common.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest

from consumers.lake.store import Lake
from dashboard.demo.children import free_ports, kill_child, start_child
from tests.pipeline_rows import put, rows
from tests.plugins.calling import PROJECT
from tests.plugins.s3_server import KEYS

pytestmark = pytest.mark.spark

CHILD = Path(__file__).with_name("cluster_child.py")
CLASSES = "org.apache.spark.deploy"
WAIT_SECONDS = 480.0
# Each of eight JVMs lives for seconds: the second compiler takes more than it gives back.
SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
WORKERS = ("worker-1", "worker-2")


def wait_for(what: str, true: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not true():
        assert time.monotonic() < until, what
        time.sleep(0.1)


class Cluster:
    """Its workers have the packages of this Python and, unlike the driver, no path to the project."""

    def __init__(self, folder: Path, kept: contextlib.ExitStack) -> None:
        self._folder, self._kept = folder, kept
        self._home = Path(pyspark.__file__).parent
        port = free_ports(0)
        self.master = f"spark://127.0.0.1:{port}"
        self._start("master", "master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", free_ports(0))
        wait_for("the master listens", lambda: "Starting Spark master" in self.said("master"))
        self._workers: dict[str, subprocess.Popen[bytes]] = {}

    def start_workers(self) -> None:
        """Those that do not run: both start beside each other."""
        missing = [name for name in WORKERS if name not in self._workers]
        for name in missing:
            own = ["--host", "127.0.0.1", "--webui-port", free_ports(0), "--work-dir", self._folder / name]
            size = ["--cores", 1, "--memory", "600m"]
            self._workers[name] = self._start(name, "worker.Worker", *own, *size, self.master)
        for name in missing:
            wait_for(f"{name} is registered", lambda name=name: "Successfully registered" in self.said(name))

    def said(self, name: str) -> str:
        log = self._folder / f"{name}.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def kill_worker(self, name: str) -> None:
        """With its executors, which are in its group."""
        kill_child(self._workers.pop(name))

    def _start(self, name: str, main: str, *arguments: object) -> "subprocess.Popen[bytes]":
        environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(self._home), "SPARK_NO_DAEMONIZE": "1"}
        environ |= {**SHORT_LIVED, **KEYS}
        command = [self._home / "bin" / "spark-class", f"{CLASSES}.{main}", *map(str, arguments)]
        log = self._folder / f"{name}.log"
        # Of one that was killed it would say that this one is registered.
        log.unlink(missing_ok=True)
        child = start_child(command, log=log, environ=environ)
        self._kept.callback(kill_child, child)
        return child


@pytest.fixture
def location(place: str) -> str:
    """In S3 the keys come from the environment of each worker, as they do where a site is set up well."""
    return place.replace("nobody:nothing@", "")


@pytest.fixture(scope="module")
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    with contextlib.ExitStack() as kept:
        yield Cluster(tmp_path_factory.mktemp("spark"), kept)


@pytest.fixture
def cluster(_cluster: Cluster) -> Cluster:
    """Both of its workers run."""
    _cluster.start_workers()
    return _cluster


def test_executors_get_the_code_and_a_worker_that_is_killed_in_the_middle_loses_nothing(
    cluster: Cluster, location: str, tmp_path: Path
) -> None:
    lake = Lake.at(location)
    courses = [[(10 * n + number, 10 * n + 20) for n in range(40)] for number in range(20)]
    put(lake, "readings", [row for n, course in enumerate(courses) for row in rows(course, group=f"group-{n}")])
    mark = tmp_path / "mark"
    mark.mkdir()
    environ = {**os.environ, **SHORT_LIVED, "PYTHONPATH": str(PROJECT), "SPARK_LOCAL_IP": "127.0.0.1"}
    arguments = [cluster.master, location, str(mark)]
    command = [sys.executable, CHILD, *arguments]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as driver:
        try:
            wait_for("buckets are under way", lambda: len(list(mark.glob("*"))) >= 2 or driver.poll() is not None)
            assert driver.poll() is None
            cluster.kill_worker("worker-1")
            (mark / "go").touch()
            printed, _ = driver.communicate(timeout=WAIT_SECONDS)
        finally:
            driver.kill()
    answer = json.loads(printed.splitlines()[-1])
    assert answer["rows"] > 100
    assert (answer["processes"], answer["whole"], answer["broken"]) == (2, True, True)
