"""What an export is of, as it travels to the worker."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from consumers.selectors.dead_letters.filter_query import filters_of, words_of
from consumers.selectors.dead_letters.filters import DeadLetterFilters


class ExportFormat(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"


class ExportFailed(Exception):
    """str() is one sentence for whoever asked."""


@dataclass(frozen=True)
class ExportWanted:
    cluster: str
    group: str
    format: ExportFormat
    with_bodies: bool
    filters: DeadLetterFilters

    def __str__(self) -> str:
        return f"{self.cluster}/{self.group}"

    def as_words(self) -> dict[str, Any]:
        own = {"cluster": self.cluster, "group": self.group, "format": self.format, "with_bodies": self.with_bodies}
        return own | {"filters": words_of(self.filters)}

    @classmethod
    def of_words(cls, words: Mapping[str, Any]) -> "ExportWanted":
        said = {"format": ExportFormat(words["format"]), "filters": filters_of(words["filters"])}
        return cls(**(dict(words) | said))
