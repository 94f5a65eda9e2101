"""Why it cannot be said who is to own a queue: a sentence, and of which sort it is."""

from dataclasses import dataclass
from enum import StrEnum


class Sort(StrEnum):
    NO_MEMBER = "no member"
    NOT_LISTED = "not listed"
    SHARED_BY_ALL = "shared by all"
    OWNERLESS = "ownerless"
    SILENT = "silent"
    MODELS = "models"
    PROXY = "proxy"
    CONNECTIONS = "connections"
    NOT_SIMULABLE = "not simulable"
    STRATEGIES = "strategies"
    LISTS = "lists"
    GIVEN = "given"
    CONFIGURATION = "configuration"
    RING = "ring"


@dataclass(frozen=True)
class Why:
    sort: Sort
    sentence: str
