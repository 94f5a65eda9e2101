"""Which of the three kinds a file is: by its name. A file with another name is none, and is never opened."""

from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from .globs import BACKUP_SUFFIX
from .stored_file import Kind

BY_NAME: dict[str, Kind] = {
    "consumerOffset.json": "broker_file",
    "delayOffset.json": "delay_file",
    "offsets.json": "consumer_file",
}
NAMES = "consumerOffset.json, delayOffset.json or offsets.json"


def kind_by_name(path: Path) -> Kind | None:
    return BY_NAME.get(path.name)


def is_named_so(path: Path) -> bool:
    """Like an offset file or its backup."""
    return path.name.removesuffix(BACKUP_SUFFIX) in BY_NAME


def may_name_one(pattern: str) -> bool:
    """Whether a glob can match an offset file by the last part of it."""
    return any(fnmatchcase(name, PurePath(pattern).name) for name in BY_NAME)
