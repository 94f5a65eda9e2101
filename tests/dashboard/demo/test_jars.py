"""The jars' folder appears whole or not at all. Java and Ivy are a script here; live tests use the real ones."""

import sys
from pathlib import Path

import pytest

from dashboard.demo.cluster import JarsNotFound, ensure_jars, jars_folder, write_ivy_files
from dashboard.demo.java import Java

BEGINNING = f"""#!{sys.executable}
import pathlib, sys
arguments = sys.argv[1:]
cache = pathlib.Path(arguments[arguments.index("-cache") + 1])
fetched = pathlib.Path(arguments[arguments.index("-retrieve") + 1]).parent
cache.mkdir(exist_ok=True)
"""


def ivy(folder: Path, script: str) -> Java:
    path = folder / "java"
    path.write_text(BEGINNING + script)
    path.chmod(0o755)
    return Java(path=path, major=17)


def quiet(_: str) -> None:
    pass


def test_jars_that_are_there_are_used_without_java_and_without_writing(tmp_path: Path) -> None:
    jars = tmp_path / "rocketmq-5.4.0"
    jars.mkdir()
    assert ensure_jars(Java(path=Path("/no/java"), major=17), tmp_path, progress=quiet) == jars
    assert list(tmp_path.iterdir()) == [jars]


def test_fetched_jars_are_all_that_is_left(tmp_path: Path) -> None:
    java = ivy(tmp_path, "fetched.mkdir()\n(fetched / 'rocketmq-broker-5.4.0.jar').touch()\n")
    jars = ensure_jars(java, tmp_path / "jars", progress=quiet)
    assert [path.name for path in jars.iterdir()] == ["rocketmq-broker-5.4.0.jar"]
    assert sorted(path.name for path in (tmp_path / "jars").iterdir()) == [".lock", "rocketmq-5.4.0"]


def test_progress_counts_what_arrives(tmp_path: Path) -> None:
    said: list[str] = []
    script = """
for number in range(25):
    print(f"\\tfound org#part-{number};1 in default")
for number in range(12):
    print(f"\\t[SUCCESSFUL ] org#part-{number};1!part.jar (1ms)")
fetched.mkdir()
(fetched / "rocketmq-broker-5.4.0.jar").touch()
"""
    ensure_jars(ivy(tmp_path, script), tmp_path / "jars", progress=said.append)
    assert said[1:] == ["RocketMQ 5.4.0: 20 parts found", "RocketMQ 5.4.0: 10 jars have arrived"]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_failure_names_its_reason_and_leaves_no_jars(tmp_path: Path, stream: str) -> None:
    script = f"""
fetched.mkdir()
(fetched / "rocketmq-broker-5.4.0.jar").touch()
print("\\t\\t:: org#part;1: not found", file=sys.{stream})
sys.exit(1)
"""
    with pytest.raises(JarsNotFound, match=r"\(org#part;1: not found\): connect this machine to the network once"):
        ensure_jars(ivy(tmp_path, script), tmp_path / "jars", progress=quiet)
    assert sorted(path.name for path in (tmp_path / "jars").iterdir()) == [".lock", "ivy"]


def test_an_answer_without_a_broker_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(JarsNotFound, match="brought no RocketMQ broker"):
        ensure_jars(ivy(tmp_path, "fetched.mkdir()\n"), tmp_path / "jars", progress=quiet)
    assert not (tmp_path / "jars" / "rocketmq-5.4.0").exists()


@pytest.mark.parametrize(
    ("environ", "folder"),
    [({}, "/home/x/jars"), ({"CONSUMERSCOPE_JARS": ""}, "/home/x/jars"), ({"CONSUMERSCOPE_JARS": "/j"}, "/j")],
)
def test_the_environment_says_where_jars_are_kept(environ: dict[str, str], folder: str) -> None:
    assert jars_folder(Path("/home/x"), environ) == Path(folder)


def test_ivy_is_told_what_to_fetch_but_not_from_where(tmp_path: Path) -> None:
    settings, module = write_ivy_files(tmp_path, tmp_path / "cache")
    assert "://" not in settings.read_text() + module.read_text()
    for name in ("namesrv", "broker", "tools", "client"):
        assert f'name="rocketmq-{name}" rev="5.4.0"' in module.read_text()


def test_of_another_version_the_servers_alone_are_fetched(tmp_path: Path) -> None:
    _, module = write_ivy_files(tmp_path, tmp_path / "cache", "4.9.7")
    wanted = module.read_text()
    assert 'name="rocketmq-broker" rev="4.9.7"' in wanted
    assert "rocketmq-tools" not in wanted


def test_each_version_has_a_folder_of_its_own(tmp_path: Path) -> None:
    java = ivy(tmp_path, "fetched.mkdir()\n(fetched / 'rocketmq-broker-4.9.7.jar').touch()\n")
    assert ensure_jars(java, tmp_path / "jars", progress=quiet, version="4.9.7").name == "rocketmq-4.9.7"
