"""How a small broker for one machine is set up, and with what flags its JVM starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
