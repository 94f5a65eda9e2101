"""Where a cluster's offset files lie, as its operator writes it: globs split by ';', each with its broker if known.

`broker-a=/data/a/config/consumerOffset.json;/data/clients/*/*/offsets.json`
"""

import re
from dataclasses import dataclass

BACKUP_SUFFIX = ".bak"
# A broker's name stands before '=': what a path would have, and a broker's name has not, ends the search for one.
_NAMED = re.compile(r"([^/=]*)=(.*)", re.DOTALL)
_NO_BROKER_NAME = re.compile(r"[\s*?\[\]@]")


class WrongFileGlob(ValueError):
    """str() is one sentence: which entry is wrong, and how it should be."""


@dataclass(frozen=True)
class FileGlob:
    """`broker` is None where the entry names none."""

    pattern: str
    broker: str | None = None

    def __str__(self) -> str:
        return self.pattern if self.broker is None else f"{self.broker}={self.pattern}"


def parse_offset_files(text: str) -> tuple[FileGlob, ...]:
    """The entries in their order; nothing but space and ';' is no entry. Raises WrongFileGlob."""
    globs = tuple(_parse_entry(entry.strip()) for entry in text.split(";") if entry.strip())
    seen: set[str] = set()
    for glob in globs:
        if glob.pattern in seen:
            raise WrongFileGlob(f"{glob.pattern} is named twice: name each glob of offset files once.")
        seen.add(glob.pattern)
    return globs


def _parse_entry(entry: str) -> FileGlob:
    named = _NAMED.fullmatch(entry)
    broker, pattern = (named[1].strip(), named[2].strip()) if named else (None, entry)
    if broker is not None and (not broker or _NO_BROKER_NAME.search(broker)):
        raise WrongFileGlob(f"{entry} has no broker's name before its '=': write BROKER=/path/to/consumerOffset.json.")
    if wrong := _wrong_pattern(pattern):
        raise WrongFileGlob(f"{entry} {wrong}")
    return FileGlob(pattern, broker)


def _wrong_pattern(pattern: str) -> str | None:
    if not pattern.startswith("/"):
        return "is no absolute path: write it from '/' on, as the poll worker sees it."
    if "\0" in pattern:
        return "holds a character that no path can hold."
    if "**" in pattern:
        return "holds '**', which may walk a whole disk: write one '*' for each folder, as in /*/*/offsets.json."
    if pattern.endswith("/"):
        return "names a folder: name the files in it, as in /config/consumerOffset.json."
    if pattern.endswith(BACKUP_SUFFIX):
        return f"names a backup: name the file itself, its {BACKUP_SUFFIX} is read where the file cannot be."
    return None
