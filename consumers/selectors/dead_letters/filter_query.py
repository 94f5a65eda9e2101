"""Filters as a query string and back: pages, exports and re-sends name the same letters by the same words."""

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlencode

from django.utils.dateparse import parse_datetime

from .filters import DeadLetterFilters

TEXTS = ("key", "key_part", "tag", "message_id", "origin_topic")
TIMES = {"from": "since", "to": "until"}
NAMES = (*TIMES, *TEXTS, "resent")
TRUTHS = {"true": True, "false": False}


class WrongFilter(ValueError):
    """`name` says which; str() is one sentence."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


def filters_of(query: Mapping[str, str]) -> DeadLetterFilters:
    """Other names are left alone, and an empty value is none. A time without a zone is UTC. Raises WrongFilter."""
    said = {name: query[name] for name in NAMES if query.get(name)}
    for name, text in said.items():
        if "\x00" in text:
            raise WrongFilter(name, f"“{name}” holds a character that no message can.")
    times = {field: _time(name, said[name]) for name, field in TIMES.items() if name in said}
    if "resent" in said and said["resent"] not in TRUTHS:
        raise WrongFilter("resent", f"“{said['resent']}” is neither true nor false.")
    filters = DeadLetterFilters(
        since=times.get("since"),
        until=times.get("until"),
        resent=TRUTHS[said["resent"]] if "resent" in said else None,
        **{name: said[name] for name in TEXTS if name in said},
    )
    if filters.since and filters.until and filters.since >= filters.until:
        raise WrongFilter("from", "The range is empty: “from” must be before “to”.")
    return filters


def all_filters_of(query: Mapping[str, str]) -> DeadLetterFilters:
    """For what acts on the letters: a name that is none, or has no value, is refused. Left out it would choose more."""
    for name, text in query.items():
        if name not in NAMES:
            raise WrongFilter(name, f"“{name}” is no filter. Allowed: {', '.join(NAMES)}.")
        if not text:
            raise WrongFilter(name, f"The filter “{name}” is empty: leave it out, or give it a value.")
    return filters_of(query)


def words_of(filters: DeadLetterFilters) -> dict[str, str]:
    """What `filters_of` reads the same filters from."""
    said = {name: getattr(filters, name) for name in TEXTS}
    said |= {name: time.isoformat() for name, field in TIMES.items() if (time := getattr(filters, field))}
    if filters.resent is not None:
        said["resent"] = "true" if filters.resent else "false"
    return {name: said[name] for name in NAMES if said.get(name)}


def query_of(filters: DeadLetterFilters) -> str:
    return urlencode(words_of(filters))


def _time(name: str, text: str) -> datetime:
    try:
        time = parse_datetime(text)
    except ValueError:
        time = None
    if time is None:
        raise WrongFilter(name, f"“{text}” is no time: write it as 2026-01-31T14:05 or 2026-01-31T14:05:00Z.")
    return time if time.tzinfo else time.replace(tzinfo=UTC)
