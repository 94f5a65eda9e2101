"""RocketMQ on this machine: a real cluster of one name server and some brokers on the loopback, for as long as a `with`
block; and its jars, fetched once with the Ivy that PySpark ships.

A folder of jars appears whole or not at all: Ivy works aside, and one rename shows the result.
"""

import contextlib
import fcntl
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from consumers.rocketmq.wire.codes import TlsOptions
from dashboard.demo.children import free_ports, kill_child, start_child

from .administration import wait_until_registered
from .java import DemoFailed, Java, find_java
from .server import (
    CLUSTER,
    BrokerPlace,
    Server,
    broker_command,
    broker_properties,
    mqadmin_command,
    name_server_command,
)

# A broker stores nothing above 90 % of its disk (RocketMQ 5.4.0, DefaultMessageStore.CleanCommitLogService).
FULL_DISK_SHARE = 0.90


class ClusterNotStarted(DemoFailed):
    """The cluster cannot run on this machine; the text says why."""


class MqadminFailed(DemoFailed):
    """mqadmin ended with a complaint."""


@dataclass(frozen=True)
class Broker:
    place: BrokerPlace
    server: Server

    @property
    def address(self) -> str:
        return self.place.address

    @property
    def port(self) -> int:
        return self.place.port

    @property
    def store(self) -> Path:
        return self.place.store

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self.server.pid


class RocketMQ:
    """The servers, their folders below `home`, their ports kept over restarts. Enter it from a thread that lives on."""

    cluster = CLUSTER

    def __init__(
        self,
        home: Path,
        jars: Path,
        brokers: int = 1,
        config: Mapping[str, str] | None = None,
        *,
        slaves: bool = False,
        flags: Sequence[str] = (),
        tls: TlsOptions | None = None,
    ) -> None:
        """`slaves`: one for each broker, yet to be started. `flags`: more of the JVMs. `tls`: what these want."""
        self.home = home.resolve()
        self.brokers: dict[str, Broker] = {}
        self.slaves: dict[str, Broker] = {}
        self.jars, self._flags, self._tls = jars, tuple(flags), tls
        self._java: Java = find_java()
        self._namesrv_port = free_ports(0)
        self.namesrv = f"127.0.0.1:{self._namesrv_port}"
        self._name_server = self._make_name_server()
        for number in range(brokers):
            name = f"broker-{chr(ord('a') + number)}"
            self.brokers[name] = self._make_broker(name, 0, config or {})
            if slaves:
                self.slaves[name] = self._make_broker(name, 1, config or {})

    def __enter__(self) -> "RocketMQ":
        self.home.mkdir(parents=True, exist_ok=True)
        disk = shutil.disk_usage(self.home)
        if disk.used / (disk.used + disk.free) >= FULL_DISK_SHARE:
            raise ClusterNotStarted(
                f"The disk of {self.home} is over 90 % full, where a broker stores nothing: free some."
            )
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self.close)
            # A broker that finds no name server asks again only 10 s later.
            self._name_server.launch()
            self._name_server.wait_until_it_serves()
            for broker in self.brokers.values():
                broker.server.launch()
            for broker in self.brokers.values():
                self._wait_until_it_serves(broker)
            on_failure.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kills every server: a goodbye takes a broker ten seconds, and nothing reads this store again."""
        for broker in (*self.brokers.values(), *self.slaves.values()):
            broker.server.kill()
        self._name_server.kill()

    def kill_broker(self, name: str) -> None:
        """SIGKILL: what the broker had in memory only is lost."""
        self.brokers[name].server.kill()

    def start_broker(self, name: str) -> None:
        """Starts it again, on the same ports and store; returns once it serves."""
        self.brokers[name].server.launch()
        self._wait_until_it_serves(self.brokers[name])

    @property
    def name_server_pid(self) -> int | None:
        """None while it does not run."""
        return self._name_server.pid

    def kill_name_server(self) -> None:
        self._name_server.kill()

    def start_name_server(self) -> None:
        """On the same port. Brokers register with it again within half a minute."""
        self._name_server.launch()
        self._name_server.wait_until_it_serves()

    def start_slave(self, name: str) -> None:
        """Returns once it serves. It takes its master's configuration and consumer offsets over after a minute."""
        self.slaves[name].server.launch()
        self._wait_until_it_serves(self.slaves[name])

    def mqadmin(self, *args: str, timeout: float = 60.0) -> str:
        """What RocketMQ's own mqadmin prints, for example `mqadmin("clusterList")`. Takes seconds: a JVM starts."""
        folder = self.home / "mqadmin"
        command = mqadmin_command(self._java, self.jars, folder, self.namesrv, *args)
        with tempfile.TemporaryDirectory(prefix="mqadmin-") as aside:
            errors = Path(aside) / "errors"
            child = start_child(command, log=errors, piped=True)
            try:
                output, _ = child.communicate(timeout=timeout)
            except subprocess.TimeoutExpired as cause:
                raise MqadminFailed(f"mqadmin {' '.join(args)} did not end within {timeout:g} s.") from cause
            finally:
                kill_child(child)
            complaint = errors.read_text(errors="replace")
        # It ends with 0 even when a command fails, and prints the stack of the failure.
        if child.returncode != 0 or "Exception" in complaint:
            raise MqadminFailed(f"mqadmin {' '.join(args)} ended with {child.returncode}: {complaint.strip()}")
        return output.decode(errors="replace")

    def _wait_until_it_serves(self, broker: Broker) -> None:
        broker.server.wait_until_it_serves()
        wait_until_registered(self.namesrv, broker.address, tls=self._tls)

    def _make_name_server(self) -> Server:
        folder = self.home / "namesrv"

        def command() -> list[str | Path]:
            folder.mkdir(parents=True, exist_ok=True)
            return name_server_command(self._java, self.jars, folder, self._namesrv_port, self._flags)

        return Server("The name server", command, "boot success", folder / "console.log")

    def _make_broker(self, name: str, broker_id: int, config: Mapping[str, str]) -> Broker:
        folder = self.home / (f"{name}-slave" if broker_id else name)
        place = BrokerPlace(name=name, folder=folder, port=free_ports(-2, 0, 1), broker_id=broker_id)

        def command() -> list[str | Path]:
            place.folder.mkdir(parents=True, exist_ok=True)
            settings = place.folder / "broker.conf"
            settings.write_text(broker_properties(place, self.namesrv, config))
            return broker_command(self._java, self.jars, place.folder, settings, self._flags)

        return Broker(place, Server(f"Broker {folder.name}", command, "boot success", place.folder / "console.log"))


# The two files that tell Ivy which jars are wanted. No host is named: Ivy's own default root serves.
ROCKETMQ_VERSION = "5.4.0"

SERVERS = ("namesrv", "broker")

MODULES = (*SERVERS, "tools", "client")


def write_ivy_files(folder: Path, cache: Path, version: str = ROCKETMQ_VERSION) -> tuple[Path, Path]:
    """Writes Ivy's settings and the module file into `folder`; returns their paths in this order.

    Of another version than the demo's the servers alone are wanted: its clients and tools serve all of them.
    """
    settings = folder / "ivysettings.xml"
    settings.write_text(
        "<ivysettings>\n"
        '  <settings defaultResolver="default"/>\n'
        f'  <caches defaultCacheDir="{cache}"/>\n'
        '  <resolvers><ibiblio name="default" m2compatible="true"/></resolvers>\n'
        "</ivysettings>\n"
    )
    module = folder / "ivy.xml"
    wanted = "".join(
        f'    <dependency org="org.apache.rocketmq" name="rocketmq-{name}" rev="{version}" conf="default->default"/>\n'
        for name in (MODULES if version == ROCKETMQ_VERSION else SERVERS)
    )
    module.write_text(
        '<ivy-module version="2.0">\n'
        '  <info organisation="consumerscope" module="demo"/>\n'
        '  <configurations><conf name="default"/></configurations>\n'
        f"  <dependencies>\n{wanted}  </dependencies>\n"
        "</ivy-module>\n"
    )
    return settings, module


Progress = Callable[[str], None]

# Ivy says what went wrong near its end.
KEPT_LINES = 40


class JarsNotFound(DemoFailed):
    """RocketMQ's jars are not here and could not be fetched; the text says what to do."""


def jars_folder(home: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Where jars are kept: CONSUMERSCOPE_JARS, else `jars` in the home."""
    return Path(environ.get("CONSUMERSCOPE_JARS") or home / "jars").resolve()


def ensure_jars(java: Java, folder: Path, *, progress: Progress, version: str = ROCKETMQ_VERSION) -> Path:
    """The folder below `folder` that holds the jars of that version; fetched first when they are not there.

    Several processes may ask at once: one fetches, the others wait for it.
    """
    jars = folder / f"rocketmq-{version}"
    if jars.is_dir():
        return jars
    folder.mkdir(parents=True, exist_ok=True)
    with _only_one(folder / ".lock"):
        if not jars.is_dir():
            _fetch(java, folder, jars, version, progress)
    return jars


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _fetch(java: Java, folder: Path, jars: Path, version: str, progress: Progress) -> None:
    # What Ivy has fetched stays here when it fails, and the next attempt goes on from there. After a success it would
    # only hold every jar twice.
    cache = folder / "ivy"
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as aside:
        settings, module = write_ivy_files(Path(aside), cache, version)
        fetched = Path(aside) / "jars"
        progress(f"RocketMQ {version}: fetching its jars, once (about 90 MB)")
        command: list[str | Path] = [java.path, f"-Divy.default.ivy.user.dir={cache}", "-jar", _ivy_jar()]
        command += ["-settings", settings, "-ivy", module, "-cache", cache, "-confs", "default", "-types", "jar"]
        command += ["bundle", "-retrieve", f"{fetched}/[artifact]-[revision](-[classifier]).[ext]"]
        _run_ivy(command, Path(aside) / "errors", version, progress)
        if not any(fetched.glob("rocketmq-broker-*.jar")):
            raise JarsNotFound("Ivy ended well but brought no RocketMQ broker: remove the folder and try again.")
        fetched.rename(jars)
    shutil.rmtree(cache)


def _run_ivy(command: list[str | Path], errors: Path, version: str, progress: Progress) -> None:
    last_lines: list[str] = []
    found = arrived = 0
    ivy = start_child(command, log=errors, piped=True)
    try:
        assert ivy.stdout is not None
        for line in map(bytes.decode, ivy.stdout):
            last_lines = [*last_lines, line.strip()][-KEPT_LINES:]
            if line.startswith("\tfound "):
                found += 1
                if found % 20 == 0:
                    progress(f"RocketMQ {version}: {found} parts found")
            elif "[SUCCESSFUL ]" in line:
                arrived += 1
                if arrived % 10 == 0:
                    progress(f"RocketMQ {version}: {arrived} jars have arrived")
        ivy.wait()
    finally:
        kill_child(ivy)
    if ivy.returncode != 0:
        last_lines += [line.strip() for line in errors.read_text(errors="replace").splitlines()[-KEPT_LINES:]]
        raise JarsNotFound(
            f"RocketMQ {version}'s jars could not be fetched ({_reason(last_lines)}): connect this machine to "
            "the network once, or point CONSUMERSCOPE_JARS at a folder that was filled on another machine."
        )


def _reason(lines: list[str]) -> str:
    """The first thing that Ivy could not resolve, without its banner."""
    complaints = (line for line in lines if "not found" in line or "Exception" in line)
    return next(complaints, lines[-1] if lines else "Ivy said nothing").strip(": ")


def _ivy_jar() -> Path:
    # Found without importing PySpark, which takes a second.
    spec = importlib.util.find_spec("pyspark")
    places = spec.submodule_search_locations if spec else None
    found = sorted(Path(next(iter(places))).glob("jars/ivy-*.jar")) if places else []
    if not found:
        raise JarsNotFound("PySpark, which ships the Ivy that fetches RocketMQ's jars, is not installed here.")
    return found[-1]
