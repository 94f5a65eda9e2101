"""Processes that are killed, stopped, or there twice."""

import contextlib
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

from dashboard.demo.children import kill_child, start_child
from dashboard.launch import launcher
from tests.faults.fault import Fault, Told, broker_unread, cluster_late, launch, silent, unready
from tests.faults.launched import POLL_SECONDS
from tests.faults.stage import Stage
from tests.faults.story import VICTIM

Pid = Callable[[Stage], int | None]
BROKER: Pid = lambda stage: stage.rocketmq.brokers[VICTIM].pid  # noqa: E731
NAME_SERVER: Pid = lambda stage: stage.rocketmq.name_server_pid  # noqa: E731


def _killed(name: str, program: str, *, how: str = "was killed by signal 9", short: bool = False) -> Fault:
    @contextmanager
    def made(stage: Stage) -> Iterator[None]:
        stage.site.signal(name, signal.SIGKILL)
        yield

    told = (launch(f"{program} {how}"),)
    return Fault(f"kill -9 of {name}", made, told, short_seconds=0.0 if short else None)


def _stopped(name: str, *told: Told) -> Fault:
    @contextmanager
    def made(stage: Stage) -> Iterator[None]:
        stage.site.signal(name, signal.SIGSTOP)
        try:
            yield
        finally:
            stage.site.signal(name, signal.SIGCONT)

    return Fault(f"SIGSTOP of {name}", made, told, seconds=60.0)


def _server_stopped(name: str, pid_of: Pid, told: Told) -> Fault:
    @contextmanager
    def made(stage: Stage) -> Iterator[None]:
        pid = pid_of(stage)
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    return Fault(f"SIGSTOP of {name}", made, (told,), seconds=60.0)


@contextmanager
def _broker_killed(stage: Stage) -> Iterator[None]:
    stage.rocketmq.kill_broker(VICTIM)
    try:
        yield
    finally:
        stage.rocketmq.start_broker(VICTIM)


@contextmanager
def _name_server_killed(stage: Stage) -> Iterator[None]:
    stage.rocketmq.kill_name_server()
    try:
        yield
    finally:
        stage.rocketmq.start_name_server()


def _twice(queue: str, pool: tuple[str, ...], wrong: Callable[[Stage], list[str]]) -> Fault:
    """Beside the worker that the launch keeps."""

    @contextmanager
    def made(stage: Stage) -> Iterator[None]:
        program = launcher.worker_program(queue, pool, stage.site.environ)
        command = [word.replace(f"{queue}@", f"second-{queue}@") for word in program.command]
        log = stage.site.home / "logs" / f"second-{queue}.log"
        began = time.time()
        child = start_child(command, log=log, environ=program.environ)
        stage.marks["doubled"] = began
        try:
            stage.wait_for(f"the second worker of {queue} is ready", lambda: "ready." in log.read_text())
            yield
        finally:
            kill_child(child)

    return Fault(f"two workers of {queue} at once", made, (), seconds=45.0, wrong=wrong)


def nothing_wrong(_: Stage) -> list[str]:
    return []


def readings_too_many(stage: Stage) -> list[str]:
    """Two workers take turns; they do not read twice."""
    began, now = stage.marks["doubled"], time.time()
    times = {row[0] for row in stage.stored_readings() if row[0].timestamp() > began}
    most = (now - began) / POLL_SECONDS + 3
    return [f"{len(times)} readings in {now - began:.0f} s, one each {POLL_SECONDS:g} s"] if len(times) > most else []


def runs_that_overlap(stage: Stage) -> list[str]:
    """Asked of the database itself: no resource lists all runs."""
    path = f"file:{stage.site.home / 'consumerscope.sqlite3'}?mode=ro"
    asked = (
        "SELECT started_at, finished_at FROM consumers_pipelinerun WHERE finished_at IS NOT NULL ORDER BY started_at"
    )
    with contextlib.closing(sqlite3.connect(path, uri=True, timeout=120)) as database:
        runs = database.execute(asked).fetchall()
    return [
        f"a run began at {later}, before the one of {start} ended at {end}"
        for (start, end), (later, _) in pairwise(runs)
        if later < end
    ]


PROCESS_FAULTS = (
    _killed("poll", "poll", short=True),
    _killed("jvm", "spark", how="ended with 70", short=True),
    _killed("redis", "redis", short=True),
    _killed("web", "web", short=True),
    _killed("general", "general"),
    _killed("alerts", "alerts"),
    _killed("spark", "spark"),
    _killed("beat", "beat"),
    Fault("kill -9 of a broker", _broker_killed, (broker_unread,), seconds=15.0),
    Fault("kill -9 of the name server", _name_server_killed, (cluster_late,), seconds=15.0),
    _stopped("poll", unready("poll_worker")),
    _stopped("general", unready("general_worker")),
    _stopped("alerts", unready("alerts")),
    _stopped("spark", unready("spark_worker"), unready("judgement")),
    _stopped("jvm", unready("spark_worker"), unready("judgement")),
    _stopped("beat", unready("poll_worker")),
    _stopped("redis", unready("redis")),
    _stopped("web", silent),
    _server_stopped("a broker", BROKER, broker_unread),
    _server_stopped("the name server", NAME_SERVER, cluster_late),
    _twice("poll", ("-P", "threads", "-c", "4"), readings_too_many),
    _twice("spark", ("-P", "solo"), runs_that_overlap),
    _twice("general", ("-P", "threads", "-c", "6"), nothing_wrong),
)
