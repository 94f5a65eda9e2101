"""Every address that a room's urls have, with the walked group's names in it: a route that comes is walked too."""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, reverse

NAMES = {"cluster": "prod", "group": "billing"}


def addresses(patterns: list[Any], *, leave_out: frozenset[str] = frozenset()) -> Iterator[str]:
    for route in patterns:
        if not isinstance(route, URLPattern) or route.name is None or route.name in leave_out:
            continue
        wanted = route.pattern.converters
        assert wanted.keys() <= NAMES.keys(), f"the walk does not know what {wanted.keys()} of {route.name} may be"
        yield reverse(route.name, kwargs={name: NAMES[name] for name in wanted})
