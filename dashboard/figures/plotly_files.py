"""Serves plotly.js out of the installed plotly package, under a path that names its version: cached for ever."""

from collections.abc import Iterable
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

FOLDER = Path(str(files("plotly"))) / "package_data"
PREFIX = f"plotly/{version('plotly')}"
PATH = f"{PREFIX}/plotly.min.js"


class VersionedFolder(FileSystemStorage):
    """Finders' storages say with `prefix` under which path their files are served."""

    prefix = PREFIX


class PlotlyFinder(BaseFinder):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.storage = VersionedFolder(location=FOLDER)

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != PATH:
            return []
        return [str(FOLDER / "plotly.min.js")] if find_all else str(FOLDER / "plotly.min.js")

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, Storage]]:
        yield "plotly.min.js", self.storage
