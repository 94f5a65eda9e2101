"""A real RocketMQ cluster of one name server and some brokers on the loopback, for as long as a `with` block."""

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from consumers.rocketmq.wire.codes import TlsOptions

from .administration import wait_until_registered
from .children import free_ports, kill_child, start_child
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
