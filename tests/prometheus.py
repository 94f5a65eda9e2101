"""A real Prometheus on loopback. Without one its tests skip; where CI is set, they fail."""

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboard.demo.children import free_ports

SECONDS = 300.0


def installed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        reason = f"{program} is not installed: apt-get install prometheus"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


class Prometheus:
    """It scrapes every two seconds."""

    def __init__(self, address: str) -> None:
        self.address = address

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """Labels and value of each result of now; AssertionError where it is no PromQL."""
        words = urllib.parse.urlencode({"query": expression}).encode()
        try:
            with urllib.request.urlopen(f"{self.address}/api/v1/query", data=words, timeout=10) as answer:
                found = json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expression}: {error.read().decode()}") from None
        return [(result["metric"], float(result["value"][1])) for result in found]

    def wait(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if is_so():
                return
            time.sleep(0.1)
        raise AssertionError(f"It is still not so after {SECONDS:g} s.")

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/-/ready", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextmanager
def running_prometheus(folder: Path, scrapes: list[dict[str, Any]], rules: list[Path]) -> Iterator[Prometheus]:
    """`scrapes`: its scrape_configs."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "1s"},
        "rule_files": [str(path) for path in rules],
        "scrape_configs": scrapes,
    }
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    port = free_ports(0)
    command = [
        installed("prometheus"), f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        try:
            found = Prometheus(f"http://127.0.0.1:{port}")
            found.wait(found.is_ready)
            yield found
        finally:
            child.kill()
            child.wait()
