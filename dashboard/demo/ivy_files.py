"""The two files that tell Ivy which jars are wanted. No host is named: Ivy's own default root serves."""

from pathlib import Path

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
