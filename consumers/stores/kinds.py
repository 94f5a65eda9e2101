"""Which of the three kinds a file is: by its name, else by the keys that it holds."""

from pathlib import Path

from consumers.rocketmq.fastjson_entries import Entries

from .problems import NotOffsets
from .stored_file import Kind

BY_NAME: dict[str, Kind] = {
    "consumerOffset.json": "broker_file",
    "delayOffset.json": "delay_file",
    "offsets.json": "consumer_file",
}


def kind_by_name(path: Path) -> Kind | None:
    return BY_NAME.get(path.name)


def kind_by_content(entries: Entries) -> Kind:
    """By the keys of the table; raises NotOffsets where there are none, or of several kinds."""
    kinds: set[Kind] = {_kind_of_key(entry.key) for entry in entries}
    if len(kinds) != 1:
        held = "an empty table" if not kinds else "keys of several kinds"
        raise NotOffsets(f"holds {held}, and its name does not tell what it is: name it {', '.join(BY_NAME)}.")
    return kinds.pop()


def _kind_of_key(key: object) -> Kind:
    if isinstance(key, tuple):
        return "consumer_file"
    return "delay_file" if isinstance(key, int) or (isinstance(key, str) and key.isdigit()) else "broker_file"
