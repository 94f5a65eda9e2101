"""The two files that tell Ivy which jars are wanted. No host is named: Ivy's own default root serves."""

from pathlib import Path

ROCKETMQ_VERSION = "5.4.0"
MODULES = ("namesrv", "broker", "tools", "client")


def write_ivy_files(folder: Path, cache: Path) -> tuple[Path, Path]:
    """Writes Ivy's settings and the module file into `folder`; returns their paths in this order."""
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
        f'    <dependency org="org.apache.rocketmq" name="rocketmq-{name}" rev="{ROCKETMQ_VERSION}" '
        'conf="default->default"/>\n'
        for name in MODULES
    )
    module.write_text(
        '<ivy-module version="2.0">\n'
        '  <info organisation="consumerscope" module="demo"/>\n'
        '  <configurations><conf name="default"/></configurations>\n'
        f"  <dependencies>\n{wanted}  </dependencies>\n"
        "</ivy-module>\n"
    )
    return settings, module
