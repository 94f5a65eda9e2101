"""The logging that RocketMQ's client ships in its jar, for a JVM of a test: its log is `rocketmq_client.log`."""

import zipfile
from pathlib import Path

SETTINGS = "rmq.client.logback.xml"


def shipped_logging(jars: Path, folder: Path) -> dict[str, str]:
    """Java's system properties; the log is written below `folder`."""
    [jar] = jars.glob("rocketmq-client-[0-9]*.jar")
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(jar) as archive:
        settings = archive.extract(SETTINGS, folder)
    return {"rmq.logback.configurationFile": settings, "rocketmq.log.root": str(folder)}
