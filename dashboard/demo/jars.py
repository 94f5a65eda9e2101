"""RocketMQ's jars, fetched once with the Ivy that PySpark ships.

A folder of jars appears whole or not at all: Ivy works aside, and one rename shows the result.
"""

import fcntl
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dashboard.demo.children import kill_child, start_child

from .java import DemoFailed, Java

# The two files that tell Ivy which jars are wanted. No host is named: Ivy's own default root serves.
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


Progress = Callable[[str], None]

# Ivy says what went wrong near its end.
KEPT_LINES = 40


class JarsNotFound(DemoFailed):
    """RocketMQ's jars are not here and could not be fetched; the text says what to do."""


def jars_folder(home: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Where jars are kept: CONSUMERSCOPE_JARS, else `jars` in the home."""
    return Path(environ.get("CONSUMERSCOPE_JARS") or home / "jars").resolve()


def ensure_jars(java: Java, folder: Path, *, progress: Progress, version: str = ROCKETMQ_VERSION) -> Path:
    """The folder below `folder` that holds the jars of that version; fetched first when they are not there.

    Several processes may ask at once: one fetches, the others wait for it.
    """
    jars = folder / f"rocketmq-{version}"
    if jars.is_dir():
        return jars
    folder.mkdir(parents=True, exist_ok=True)
    with _only_one(folder / ".lock"):
        if not jars.is_dir():
            _fetch(java, folder, jars, version, progress)
    return jars


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _fetch(java: Java, folder: Path, jars: Path, version: str, progress: Progress) -> None:
    # What Ivy has fetched stays here when it fails, and the next attempt goes on from there. After a success it would
    # only hold every jar twice.
    cache = folder / "ivy"
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as aside:
        settings, module = write_ivy_files(Path(aside), cache, version)
        fetched = Path(aside) / "jars"
        progress(f"RocketMQ {version}: fetching its jars, once (about 90 MB)")
        command: list[str | Path] = [java.path, f"-Divy.default.ivy.user.dir={cache}", "-jar", _ivy_jar()]
        command += ["-settings", settings, "-ivy", module, "-cache", cache, "-confs", "default", "-types", "jar"]
        command += ["bundle", "-retrieve", f"{fetched}/[artifact]-[revision](-[classifier]).[ext]"]
        _run_ivy(command, Path(aside) / "errors", version, progress)
        if not any(fetched.glob("rocketmq-broker-*.jar")):
            raise JarsNotFound("Ivy ended well but brought no RocketMQ broker: remove the folder and try again.")
        fetched.rename(jars)
    shutil.rmtree(cache)


def _run_ivy(command: list[str | Path], errors: Path, version: str, progress: Progress) -> None:
    last_lines: list[str] = []
    found = arrived = 0
    ivy = start_child(command, log=errors, piped=True)
    try:
        assert ivy.stdout is not None
        for line in map(bytes.decode, ivy.stdout):
            last_lines = [*last_lines, line.strip()][-KEPT_LINES:]
            if line.startswith("\tfound "):
                found += 1
                if found % 20 == 0:
                    progress(f"RocketMQ {version}: {found} parts found")
            elif "[SUCCESSFUL ]" in line:
                arrived += 1
                if arrived % 10 == 0:
                    progress(f"RocketMQ {version}: {arrived} jars have arrived")
        ivy.wait()
    finally:
        kill_child(ivy)
    if ivy.returncode != 0:
        last_lines += [line.strip() for line in errors.read_text(errors="replace").splitlines()[-KEPT_LINES:]]
        raise JarsNotFound(
            f"RocketMQ {version}'s jars could not be fetched ({_reason(last_lines)}): connect this machine to "
            "the network once, or point CONSUMERSCOPE_JARS at a folder that was filled on another machine."
        )


def _reason(lines: list[str]) -> str:
    """The first thing that Ivy could not resolve, without its banner."""
    complaints = (line for line in lines if "not found" in line or "Exception" in line)
    return next(complaints, lines[-1] if lines else "Ivy said nothing").strip(": ")


def _ivy_jar() -> Path:
    # Found without importing PySpark, which takes a second.
    spec = importlib.util.find_spec("pyspark")
    places = spec.submodule_search_locations if spec else None
    found = sorted(Path(next(iter(places))).glob("jars/ivy-*.jar")) if places else []
    if not found:
        raise JarsNotFound("PySpark, which ships the Ivy that fetches RocketMQ's jars, is not installed here.")
    return found[-1]
