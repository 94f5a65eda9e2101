"""Where a JVM with RocketMQ in it writes its log: one file that rolls, nothing on the console, nothing in ~/logs."""

from pathlib import Path

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
