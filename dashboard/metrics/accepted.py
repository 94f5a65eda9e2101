"""Which format and coding a scraper wants, by its headers."""

from collections.abc import Iterator
from math import isfinite

from .exposition import OPEN_METRICS, TEXT

# Of what we write; a range without a version takes any.
VERSIONS = {"application/openmetrics-text": "1.0.0", "text/plain": "0.0.4"}


def format_for(accept: str) -> str:
    """Of an Accept header; the plain one where both are wanted alike, or neither is.

    Parameters but version and q say nothing against a format: scrapers name a charset, or how names are escaped.
    """
    ranges = list(_weighed(accept))
    wanted = {media_type: _weight(media_type, ranges) for media_type in VERSIONS}
    return OPEN_METRICS if wanted["application/openmetrics-text"] > wanted["text/plain"] else TEXT


def wants_gzip(accept_encoding: str) -> bool:
    return any(coding in ("gzip", "x-gzip") and weight > 0 for coding, _, weight in _weighed(accept_encoding))


def _weighed(header: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """What is named, its parameters, and how much it is wanted: from 0, not at all, to 1."""
    for part in header.lower().split(","):
        name, *rest = (word.strip() for word in part.split(";"))
        found = {key.strip(): value.strip(' "') for key, _, value in (word.partition("=") for word in rest)}
        yield name, found, _number(found.pop("q", "1"))


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if isfinite(number) else 0.0


def _weight(media_type: str, ranges: list[tuple[str, dict[str, str], float]]) -> float:
    """By the ranges that name it most exactly."""
    for name in (media_type, f"{media_type.split('/')[0]}/*", "*/*"):
        version = VERSIONS[media_type]
        found = [weight for named, said, weight in ranges if named == name and said.get("version", version) == version]
        if found:
            return max(found)
    return 0.0
