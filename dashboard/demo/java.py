"""Finds the Java of this machine, or says in one sentence what is missing."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class DemoFailed(Exception):
    """The root of them all."""


LEAST_MAJOR = 17
VERSION_DEADLINE_SECONDS = 120.0


class JavaNotFound(DemoFailed):
    """There is no Java that can be used; the text says what to do."""


@dataclass(frozen=True)
class Java:
    path: Path
    major: int


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The Java of JAVA_HOME, else of PATH. A JAVA_HOME that does not serve is an error, never passed over."""
    path = _java_path(environ)
    try:
        answer = subprocess.run(
            [path, "-version"], capture_output=True, text=True, timeout=VERSION_DEADLINE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as cause:
        raise JavaNotFound(f"{path} does not run ({cause}): install Java {LEAST_MAJOR} or later.") from cause
    major = parse_major(answer.stderr + answer.stdout)
    if major is None:
        raise JavaNotFound(f"{path} did not tell its version: install Java {LEAST_MAJOR} or later.")
    if major < LEAST_MAJOR:
        raise JavaNotFound(f"{path} is Java {major}: Java {LEAST_MAJOR} or later is needed.")
    return Java(path=path, major=major)


def parse_major(text: str) -> int | None:
    """The major version in the answer to `java -version`; None when it holds none. Java 8 calls itself 1.8."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match.group(1)) if match else None


def _java_path(environ: Mapping[str, str]) -> Path:
    home = environ.get("JAVA_HOME")
    if home:
        path = Path(home) / "bin" / "java"
        if not path.is_file():
            raise JavaNotFound(f"JAVA_HOME is {home}, but {path} does not exist: correct or unset JAVA_HOME.")
        return path
    found = shutil.which("java", path=environ.get("PATH"))
    if found is None:
        raise JavaNotFound(f"Java is not on PATH: install Java {LEAST_MAJOR} or later, or set JAVA_HOME.")
    return Path(found)


# RocketMQ carries Logback under its own package; class names in the file are written as for the ordinary one.
TEMPLATE = """<configuration>
  <appender name="file" class="ch.qos.logback.core.rolling.RollingFileAppender">
    <file>{log}</file>
    <rollingPolicy class="ch.qos.logback.core.rolling.FixedWindowRollingPolicy">
      <fileNamePattern>{log}.%i</fileNamePattern>
      <minIndex>1</minIndex>
      <maxIndex>2</maxIndex>
    </rollingPolicy>
    <triggeringPolicy class="ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy">
      <maxFileSize>8MB</maxFileSize>
    </triggeringPolicy>
    <encoder class="ch.qos.logback.classic.encoder.PatternLayoutEncoder">
      <pattern>%d{{yyyy-MM-dd HH:mm:ss.SSS}} %-5p [%t] %logger{{12}} - %m%n</pattern>
    </encoder>
  </appender>
  <root level="{level}"><appender-ref ref="file"/></root>
</configuration>
"""


def log_flags(folder: Path, name: str, *, level: str = "info") -> list[str]:
    """Writes the configuration into `folder` and returns the JVM's flags that use it; the log is `folder/name.log`."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / f"{name}.logback.xml"
    configuration.write_text(TEMPLATE.format(log=folder / f"{name}.log", level=level))
    return [f"-Drmq.logback.configurationFile={configuration}", f"-Duser.home={folder}"]
