"""The command lines of RocketMQ's own programs: name server, broker, mqadmin."""

from collections.abc import Sequence
from pathlib import Path

from .broker_settings import OPENED, SMALL_JVM
from .java import Java
from .java_logs import log_flags

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
