"""Name servers and brokers of the demo: their settings, commands and processes."""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dashboard.demo.children import kill_child, start_child, stop_child

from .java import DemoFailed, Java, log_flags

# One of RocketMQ's servers as a child process: started until it says that it serves, stopped, killed.
START_SECONDS = 300.0

STOP_SECONDS = 60.0

LOOK_SECONDS = 0.05

NOTED_CHARACTERS = 2_000

# A broker looks every millisecond whether a message came, and in several threads every ten (5.4.0,
# DefaultMessageStore.ReputMessageService, PopBufferMergeService, BrokerFastFailure): that takes 7 % of a core from an
# idle one, and less than 3 % with this. A message can be consumed so much later.
SLACK_MILLISECONDS = 50


class ServerNotStarted(DemoFailed):
    """A server ended, or stayed silent, before it served; the text names its log."""


class Server:
    """A program that prints `announcement` once it serves."""

    def __init__(self, title: str, command: Callable[[], list[str | Path]], announcement: str, console: Path) -> None:
        self.title = title
        self.console = console
        self._command = command
        self._announcement = announcement.encode()
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    def launch(self) -> None:
        """Begins to start. Does nothing when it runs."""
        if self.pid is not None:
            return
        self.console.parent.mkdir(parents=True, exist_ok=True)
        self.console.write_bytes(b"")
        self._child = start_child(self._command(), log=self.console, slack_milliseconds=SLACK_MILLISECONDS)

    def wait_until_it_serves(self) -> None:
        if self._child is None:
            raise ServerNotStarted(f"{self.title} was never launched.")
        deadline = time.monotonic() + START_SECONDS
        while self._announcement not in self.console.read_bytes():
            if self._child.poll() is not None:
                ended = f"{self.title} ended with {self._child.returncode} at its start"
                error = ServerNotStarted(f"{ended}: see {self.console}.")
                # For a traceback of a test, whose folder is gone by the time somebody reads that.
                error.add_note(self.console.read_text(errors="replace")[-NOTED_CHARACTERS:])
                raise error
            if time.monotonic() > deadline:
                raise ServerNotStarted(f"{self.title} did not serve within {START_SECONDS:g} s: see {self.console}.")
            time.sleep(LOOK_SECONDS)

    def stop(self) -> None:
        """A goodbye and a flush to disk, which take a broker some seconds."""
        if self._child is not None:
            stop_child(self._child, grace_seconds=STOP_SECONDS)

    def kill(self) -> None:
        """SIGKILL: nothing is flushed, no goodbye is said."""
        if self._child is not None:
            kill_child(self._child)


# How a small broker for one machine is set up, and with what flags its JVM starts.
CLUSTER = "demo"

# -XX:TieredStopAtLevel=1: a broker for tens of messages a second is started often and never needs the second compiler.
SMALL_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k", "-XX:MaxMetaspaceSize=128m")

# RocketMQ 5.4.0 on Java 17: UtilAll cleans mapped files, and Netty direct buffers, through the JDK's own classes.
OPENED = (
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)


@dataclass(frozen=True)
class BrokerPlace:
    """A broker's name, its folder and its port; two more ports are derived from that (2 below and 1 above).

    `broker_id` 0 is the master, any other number a slave of the master of the same name.
    """

    name: str
    folder: Path
    port: int
    broker_id: int = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def store(self) -> Path:
        return self.folder / "store"


def broker_properties(place: BrokerPlace, namesrv: str, overrides: Mapping[str, str]) -> str:
    """The text of the broker's properties file."""
    settings = {
        "brokerClusterName": CLUSTER,
        "brokerName": place.name,
        "brokerId": str(place.broker_id),
        "brokerRole": "SLAVE" if place.broker_id else "ASYNC_MASTER",
        "namesrvAddr": namesrv,
        "brokerIP1": "127.0.0.1",
        # Where slaves find the HA port of their master.
        "brokerIP2": "127.0.0.1",
        # The HA port alone ignores this and listens on every interface; RocketMQ has no setting for it.
        "bindAddress": "127.0.0.1",
        "listenPort": str(place.port),
        "haListenPort": str(place.port + 1),
        "storePathRootDir": str(place.store),
        "storePathCommitLog": str(place.store / "commitlog"),
        # Files are made whole before they are used: small ones keep a demo's store small.
        "mappedFileSizeCommitLog": str(16 * 1024 * 1024),
        "mappedFileSizeConsumeQueue": str(20_000 * 20),
        "maxHashSlotNum": "20000",
        "maxIndexNum": "80000",
        # Messages with a delivery time of their own: flushing their wheel takes a seventh of a core, idle or not.
        # Retries do not need it, they use delay levels.
        "timerWheelEnable": "false",
        # A started broker spins on a whole core until this has passed once (5.4.0, TransactionMetricsFlushService): ten
        # seconds unless told otherwise. From then on it writes a small file as often.
        "transactionMetricFlushInterval": "1000",
        # A fairly full disk must not make the broker delete early. Above 90 % it refuses to store, which no setting
        # changes (5.4.0, DefaultMessageStore.CleanCommitLogService).
        "diskMaxUsedSpaceRatio": "89",
        "diskSpaceCleanForciblyRatio": "90",
        "diskSpaceWarningLevelRatio": "90",
        # The broker's automatic creation of topics gives them its own number of queues; ours are created on purpose.
        "autoCreateTopicEnable": "false",
        # A send that has waited for 200 ms is refused otherwise, which happens on a machine that starts all this, and
        # all sends while one holds the log for a second (5.4.0, BrokerFastFailure, DefaultMessageStore).
        "waitTimeMillsInSendQueue": "8000",
        "osPageCacheBusyTimeOutMills": "8000",
        **overrides,
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


# The command lines of RocketMQ's own programs: name server, broker, mqadmin.
NAME_SERVER = "org.apache.rocketmq.namesrv.NamesrvStartup"

BROKER = "org.apache.rocketmq.broker.BrokerStartup"

MQADMIN = "org.apache.rocketmq.tools.command.MQAdminStartup"

# A server that takes TLS beside plain text, as it does unless told otherwise, makes a key and a certificate at each
# start, which is half of its work until it serves (5.4.0, TlsHelper). On the loopback nobody asks for it.
PLAIN_TEXT = "-Dtls.server.mode=disabled"


def name_server_command(java: Java, jars: Path, folder: Path, port: int, more: Sequence[str] = ()) -> list[str | Path]:
    settings = folder / "namesrv.conf"
    settings.write_text(f"listenPort={port}\nbindAddress=127.0.0.1\n")
    flags = ["-Xms16m", "-Xmx64m", "-XX:MaxDirectMemorySize=32m", *SMALL_JVM, PLAIN_TEXT, *more]
    return _command(java, jars, folder, "namesrv", flags, NAME_SERVER, "-c", settings)


def broker_command(java: Java, jars: Path, folder: Path, settings: Path, more: Sequence[str] = ()) -> list[str | Path]:
    flags = ["-Xms64m", "-Xmx256m", "-XX:MaxDirectMemorySize=128m", *SMALL_JVM, *OPENED, PLAIN_TEXT, *more]
    return _command(java, jars, folder, "broker", flags, BROKER, "-c", settings)


def mqadmin_command(java: Java, jars: Path, folder: Path, namesrv: str, *args: str) -> list[str | Path]:
    flags = ["-Xmx128m", f"-Drocketmq.namesrv.addr={namesrv}", *SMALL_JVM, *OPENED]
    return _command(java, jars, folder, "mqadmin", flags, MQADMIN, *args)


def _command(
    java: Java, jars: Path, folder: Path, name: str, flags: list[str], main: str, *args: str | Path
) -> list[str | Path]:
    logs = log_flags(folder, name, level="warn" if name == "mqadmin" else "info")
    return [java.path, *flags, *logs, f"-Drocketmq.home.dir={folder}", "-cp", f"{jars}/*", main, *args]
