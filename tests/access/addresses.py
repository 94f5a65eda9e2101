"""Every address that the resolver knows, as a glob of it and with names that the world of these tests has."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, get_resolver
from django.urls.resolvers import RegexPattern

from tests.walk.addresses import PROD_BILLING

# A path of the API that nothing has, one of the admin pages, and the list of an app's models.
PATHS_OF_EXPRESSIONS = {"^.*/$": "v1/nothing/", "(?P<url>.*)$": "nothing", "^(?P<app_label>": "consumers/"}
PLACE = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True)
class Address:
    """`names` are those that its places take; an admin page's row is looked for in the world."""

    route: str
    names: tuple[str, ...]

    def path(self, **said: str) -> str:
        names = {**PROD_BILLING, **said}
        assert set(self.names) <= names.keys(), f"no test knows what {self.names} of {self.route} may be"
        return PLACE.sub(lambda place: names[place.group(1)], self.route)


def every_address() -> list[Address]:
    found = {address.route: address for address in _below(get_resolver().url_patterns, "/")}
    return list(found.values())


def _below(patterns: list[Any], prefix: str) -> Iterator[Address]:
    for pattern in patterns:
        text = str(pattern.pattern)
        if isinstance(pattern.pattern, RegexPattern):
            text = next(path for start, path in PATHS_OF_EXPRESSIONS.items() if text.startswith(start))
        if isinstance(pattern, URLPattern):
            route = prefix + text
            yield Address(route, tuple(PLACE.findall(route)))
        else:
            yield from _below(pattern.url_patterns, prefix + text)
