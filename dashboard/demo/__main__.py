"""`python -m dashboard.demo`: tells the story until SIGTERM or Ctrl-C. Standard output has one line of JSON only."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

from dashboard.demo.actors.actor import PROJECT, STEP_SECONDS, Actor, ActorArguments, Roamer
from dashboard.demo.cluster import ensure_jars, jars_folder

from . import shop
from .cluster import RocketMQ
from .java import DemoFailed, find_java

LOOK_SECONDS = 1.0


class DemoRunsAlready(DemoFailed):
    """Another demo has this home."""


def tell_story(home: Path, jars: Path, *, announce: Callable[[str], None]) -> NoReturn:
    """Runs until it is interrupted, or an actor dies, which raises ActorFailed; ends everything that it started.

    `announce` is given one line of JSON once the cluster serves; `demo.json` in the demo's folder holds the same.
    """
    folder = home / "demo"
    with _only_one(home), contextlib.ExitStack() as stack:
        # A backlog of yesterday would hide today's story: billing's would grow by too small a share to show.
        if folder.exists():
            shutil.rmtree(folder)
        cluster = stack.enter_context(RocketMQ(folder, jars, config={"messageDelayLevel": shop.DELAY_LEVELS}))
        place = {"namesrv": cluster.namesrv, "cluster": cluster.cluster}
        _write_whole(folder / "demo.json", json.dumps(place))
        stack.callback((folder / "demo.json").unlink)
        announce(json.dumps(place))
        _play(cluster, jars, stack)


def _play(cluster: RocketMQ, jars: Path, stack: contextlib.ExitStack) -> NoReturn:
    def start(name: str) -> Actor:
        return Actor(
            name,
            ActorArguments(
                namesrv=cluster.namesrv,
                brokers={broker: place.address for broker, place in cluster.brokers.items()},
                jars=str(jars),
                folder=str(cluster.home / name),
                offsets=str(cluster.home / "rocketmq_offsets"),
            ),
        )

    actors = []
    # Topics first, or members that come before them learn of them only half a minute later.
    for name in ("producing", "consuming"):
        actors.append(start(name))
        stack.callback(actors[-1].kill)
    roamer = Roamer(lambda: start("roaming"))
    stack.callback(roamer.kill)
    seconds_to_step = STEP_SECONDS
    while True:
        time.sleep(LOOK_SECONDS)
        for actor in actors:
            actor.check()
        seconds_to_step -= LOOK_SECONDS
        if seconds_to_step <= 0:
            roamer.take_step()
            seconds_to_step = STEP_SECONDS


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    home.mkdir(parents=True, exist_ok=True)
    with (home / "demo.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DemoRunsAlready(f"A demo already runs in {home}: end it, or set CONSUMERSCOPE_HOME.") from None
        yield


def _write_whole(path: Path, text: str) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_text(text + "\n")
    aside.rename(path)


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    home = Path(os.environ.get("CONSUMERSCOPE_HOME") or PROJECT / "var").resolve()
    try:
        jars = ensure_jars(find_java(), jars_folder(home), progress=_print)
        tell_story(home, jars, announce=lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        return 0
    except DemoFailed as failure:
        _print(str(failure))
        return 1


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _stop(_number: int, _frame: FrameType | None) -> None:
    # One interrupt ends it wherever it stands, also while jars arrive; a second one must not disturb the clearing up.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
