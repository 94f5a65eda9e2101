"""Every fault, as one declaration: how it is made and undone, for how long it lasts, and what must tell it."""

import signal
from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.stage import Stage, continue_server, stop_server
from tests.faults.story import VICTIM
from tests.faults.tunnel import Spoil
from tests.faults.watch import Look

Act = Callable[[Stage], None]
# Of a look and what the launch has printed since the fault was made: whether it is told there.
Told = Callable[[Look, str], bool]


def nothing(_: Stage) -> None:
    """It is over by itself."""


def launch(words: str) -> Told:
    return lambda _, printed: words in printed


def unready(part: str) -> Told:
    """By /readyz. A part that could not be asked is no part that is well."""
    return lambda found, _: found.ready is not None and not found.ready["parts"].get(part, {"well": True})["well"]


def silent(found: Look, _: str) -> bool:
    """Nobody answers: what is not there says nothing wrong."""
    return found.silence is not None


def broker_unread(found: Look, _: str) -> bool:
    """The cluster is not fresh, and the broker's row has the reason."""
    for cluster in found.clusters or []:
        rows = [broker for broker in cluster["brokers"] if broker["name"] == VICTIM]
        if cluster["freshness"] != "fresh" and any(not row["reachable"] and row["error"] for row in rows):
            return True
    return False


def cluster_late(found: Look, _: str) -> bool:
    return any(cluster["freshness"] != "fresh" and cluster["freshness_detail"] for cluster in found.clusters or [])


@dataclass(frozen=True)
class Fault:
    """`told`: any one of them is enough. `seconds`: for how long it is left there, `short_seconds` in the short form,
    None where it has no part in that. `must_tell`: it is not healed before that."""

    name: str
    inject: Act
    told: tuple[Told, ...]
    undo: Act = nothing
    seconds: float = 0.0
    short_seconds: float | None = None
    must_tell: bool = True

    def __str__(self) -> str:
        return self.name


def _killed(name: str, program: str, *, how: str = "was killed by signal 9", short: bool = False) -> Fault:
    return Fault(
        f"kill -9 of {name}",
        lambda stage: stage.site.signal(name, signal.SIGKILL),
        (launch(f"{program} {how}"),),
        short_seconds=0.0 if short else None,
    )


def _stopped(name: str, *told: Told, short: bool = False, must_tell: bool = True) -> Fault:
    return Fault(
        f"SIGSTOP of {name}",
        lambda stage: stage.site.signal(name, signal.SIGSTOP),
        told,
        lambda stage: stage.site.signal(name, signal.SIGCONT),
        seconds=60.0,
        short_seconds=15.0 if short else None,
        must_tell=must_tell,
    )


def _spoiled(spoil: Spoil, *, short: bool = False) -> Fault:
    return Fault(
        f"an answer of a broker {spoil.value}",
        lambda stage: stage.tunnels[VICTIM].turn(spoil),
        (broker_unread,),
        lambda stage: stage.tunnels[VICTIM].turn(Spoil.NOTHING),
        seconds=30.0,
        short_seconds=10.0 if short else None,
    )


KILLED = (
    _killed("poll", "poll", short=True),
    _killed("jvm", "spark", how="ended with 70", short=True),
    _killed("redis", "redis", short=True),
    _killed("web", "web", short=True),
    _killed("general", "general"),
    _killed("alerts", "alerts"),
    _killed("spark", "spark"),
    _killed("beat", "beat"),
    Fault(
        "kill -9 of a broker",
        lambda stage: stage.rocketmq.kill_broker(VICTIM),
        (broker_unread,),
        lambda stage: stage.rocketmq.start_broker(VICTIM),
        seconds=15.0,
    ),
    Fault(
        "kill -9 of the name server",
        lambda stage: stage.rocketmq.kill_name_server(),
        (cluster_late,),
        lambda stage: stage.rocketmq.start_name_server(),
        seconds=15.0,
    ),
)
STOPPED = (
    _stopped("poll", unready("poll_worker")),
    _stopped("general"),
    _stopped("alerts", unready("alerts")),
    _stopped("spark", unready("spark_worker"), unready("judgement")),
    _stopped("jvm", unready("spark_worker"), unready("judgement")),
    _stopped("beat", unready("poll_worker")),
    _stopped("redis", unready("redis")),
    _stopped("web", silent),
    Fault(
        "SIGSTOP of a broker",
        lambda stage: stop_server(stage.rocketmq.brokers[VICTIM].pid),
        (broker_unread,),
        lambda stage: continue_server(stage.rocketmq.brokers[VICTIM].pid),
        seconds=60.0,
    ),
    Fault(
        "SIGSTOP of the name server",
        lambda stage: stop_server(stage.rocketmq.name_server_pid),
        (cluster_late,),
        lambda stage: continue_server(stage.rocketmq.name_server_pid),
        seconds=60.0,
    ),
)
SPOILED = tuple(_spoiled(spoil, short=spoil is Spoil.SILENT) for spoil in Spoil if spoil is not Spoil.NOTHING)
FAULTS = (*KILLED, *STOPPED, *SPOILED)
