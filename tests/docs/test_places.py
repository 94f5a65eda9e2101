"""The project names no place that only some machines have: no package registry, no folder of somebody's own."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Written in parts, so that this file may be looked at too.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("python" + "hosted", "org"),
        ("repo1", "maven"),
        ("repo", "maven"),
        ("registry", "npmjs"),
        ("conda", "anaconda"),
        ("maven", "aliyun"),
        ("pypi", "tuna"),
        ("jfrog", "io"),
    )
]
OWN_FOLDERS = ["/" + folder + "/" for folder in ("root", "work", "Users", "home/[a-z]{2,}", "mnt", "srv")]
FORBIDDEN = re.compile("|".join([*map(re.escape, REGISTRIES), *(rf"(?<![\w.}}*]){name}" for name in OWN_FOLDERS)]))


def files() -> list[str]:
    """What is committed, or would be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in listed if (ROOT / name).is_file()]


def places_in(text: str) -> list[str]:
    return [line for line in text.splitlines() if FORBIDDEN.search(line)]


def test_no_file_names_a_registry_or_a_folder_of_one_machine() -> None:
    found = {name: places_in((ROOT / name).read_text(errors="replace")) for name in files()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [f"--index-url https://{REGISTRIES[0]}/simple", "cache = '/" + "root/.cache'", "open('/" + "home/ann/x')"],
)
def test_it_would_see_such_a_place(line: str) -> None:
    assert places_in(line) == [line]


@pytest.mark.parametrize("line", ["https://github.com/apache/rocketmq", "/usr/bin/chromium", "path('groups/root/')"])
def test_it_lets_other_places_be(line: str) -> None:
    assert places_in(line) == []
