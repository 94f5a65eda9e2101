"""Which Java is found, and what is said when none serves."""

from pathlib import Path

import pytest

from dashboard.demo.java import Java, JavaNotFound, find_java, parse_major


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_412"', 8),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "25-ea" 2025-09-16', 25),
        ("Unrecognized option: -version", None),
        ("", None),
    ],
)
def test_the_major_version_is_read_from_what_java_says(text: str, major: int | None) -> None:
    assert parse_major(text) == major


def java_that_says(folder: Path, version: str) -> Path:
    path = folder / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    path.chmod(0o755)
    return path


def test_java_home_wins_over_path(tmp_path: Path) -> None:
    home, other = java_that_says(tmp_path / "home", "21.0.1"), java_that_says(tmp_path / "other", "17.0.1")
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(other.parent)}
    assert find_java(environ) == Java(path=home, major=21)


def test_java_is_found_on_path(tmp_path: Path) -> None:
    path = java_that_says(tmp_path, "17.0.1")
    assert find_java({"PATH": str(path.parent)}) == Java(path=path, major=17)


def test_a_java_home_without_java_is_an_error_even_when_path_has_one(tmp_path: Path) -> None:
    path = java_that_says(tmp_path, "17.0.1")
    with pytest.raises(JavaNotFound, match="correct or unset JAVA_HOME"):
        find_java({"JAVA_HOME": str(tmp_path / "nowhere"), "PATH": str(path.parent)})


def test_an_old_java_is_refused_by_its_version(tmp_path: Path) -> None:
    path = java_that_says(tmp_path, "11.0.2")
    with pytest.raises(JavaNotFound, match="is Java 11: Java 17 or later is needed"):
        find_java({"PATH": str(path.parent)})


def test_a_machine_without_java_is_told_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(JavaNotFound, match="Java is not on PATH: install Java 17 or later"):
        find_java({"PATH": str(tmp_path)})


def test_a_java_that_cannot_run_is_told_apart_from_a_missing_one(tmp_path: Path) -> None:
    path = java_that_says(tmp_path, "17")
    path.write_bytes(b"\x00not a program")
    with pytest.raises(JavaNotFound, match="does not run"):
        find_java({"PATH": str(path.parent)})
