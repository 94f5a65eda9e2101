"""Java and apt-get are small scripts on a PATH of their own here."""

from pathlib import Path

import pytest

from dashboard.setup import SetupFailed, ensure_java


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def java(folder: Path, version: str) -> None:
    program(folder, "java", f"echo 'openjdk version \"{version}\"' >&2")


def apt_get(folder: Path, installs: str) -> None:
    """An apt-get that knows one package, and a Java 17 in it."""
    script = "echo 'openjdk version \"17.0.1\"' >&2"
    lines = [
        'case "$*" in update*) exit 0 ;; esac',
        f'case "$*" in *" {installs}") ;; *) echo "E: Unable to locate package"; exit 100 ;; esac',
        f"printf '#!/bin/sh\\n%s\\n' '{script.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}' > {folder}/java",
        f"/bin/chmod 755 {folder}/java",
    ]
    program(folder, "apt-get", "\n".join(lines))


def test_it_is_silent_where_java_is_good_enough(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    java(tmp_path, "17.0.15")
    ensure_java({"PATH": str(tmp_path)}, may_install=False)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2"])
def test_it_does_not_touch_a_java_that_is_too_old(tmp_path: Path, version: str) -> None:
    java(tmp_path, version)
    apt_get(tmp_path, "openjdk-17-jre-headless")
    with pytest.raises(SetupFailed, match="Java 17 or later is needed"):
        ensure_java({"PATH": str(tmp_path)}, may_install=True)


@pytest.mark.parametrize("package", ["openjdk-17-jre-headless", "openjdk-21-jre-headless"])
def test_it_installs_the_java_that_the_distribution_has(
    tmp_path: Path, package: str, capfd: pytest.CaptureFixture[str]
) -> None:
    apt_get(tmp_path, package)
    ensure_java({"PATH": str(tmp_path)}, may_install=True)
    assert capfd.readouterr().out.splitlines()[-1] == f"Java: {package} is installed"


def test_it_says_why_apt_get_could_not_install_it(tmp_path: Path) -> None:
    apt_get(tmp_path, "something-else")
    with pytest.raises(SetupFailed, match=r"Unable to locate package.*install Java 17 or later by hand"):
        ensure_java({"PATH": str(tmp_path)}, may_install=True)


@pytest.mark.parametrize(("has_apt_get", "may_install"), [(False, True), (True, False)])
def test_it_says_what_to_do_where_it_may_not_install(tmp_path: Path, has_apt_get: bool, may_install: bool) -> None:
    if has_apt_get:
        apt_get(tmp_path, "openjdk-17-jre-headless")
    with pytest.raises(SetupFailed, match="Java is missing: install Java 17 or later"):
        ensure_java({"PATH": str(tmp_path)}, may_install=may_install)


def test_it_never_installs_over_a_java_home_that_does_not_serve(tmp_path: Path) -> None:
    apt_get(tmp_path, "openjdk-17-jre-headless")
    with pytest.raises(SetupFailed, match="correct or unset JAVA_HOME"):
        ensure_java({"PATH": str(tmp_path), "JAVA_HOME": "/nowhere"}, may_install=True)
