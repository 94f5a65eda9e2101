"""A JVM inside this Python process, with RocketMQ's own client in it. A process can have one, once."""

from pathlib import Path

import jpype

from .java import Java, JavaNotFound
from .java_logs import log_flags
from .server import SMALL_JVM


def start_jvm(
    java: Java, jars: Path, folder: Path, *, heap_megabytes: int = 96, properties: dict[str, str] | None = None
) -> None:
    """Starts it; logs go below `folder`, broadcasting members keep their offsets in `folder/rocketmq_offsets`.

    `properties` are Java's system properties and win over the ones set here.
    """
    settings = {
        "rocketmq.client.localOffsetStoreDir": str(folder / "rocketmq_offsets"),
        # A member that found its broker busy when another came asks again after this; 20 s is long in a demo.
        "rocketmq.client.rebalance.waitInterval": "5000",
        **(properties or {}),
    }
    flags = [f"-Xmx{heap_megabytes}m", "-Xms16m", "-XX:MaxDirectMemorySize=64m", *SMALL_JVM]
    # -Xrs: signals belong to Python, which ends the consumers in order.
    flags += ["-Xrs", *log_flags(folder, "client", level="warn")]
    flags += [f"-D{name}={value}" for name, value in settings.items()]
    jpype.startJVM(str(_libjvm(java)), *flags, classpath=[f"{jars}/*"], convertStrings=True)


def _libjvm(java: Java) -> Path:
    home = java.path.resolve().parent.parent
    for place in ("lib/server/libjvm.so", "lib/server/libjvm.dylib"):
        if (home / place).is_file():
            return home / place
    raise JavaNotFound(f"{java.path} belongs to no whole Java: set JAVA_HOME to one that has lib/server/libjvm.")
